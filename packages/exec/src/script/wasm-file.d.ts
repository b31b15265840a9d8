/** With the attribute `type: 'file'`. */
declare module '*.wasm' {
  const path: string
  export default path
}
