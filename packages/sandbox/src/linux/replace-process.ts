/** Runs another program in the place of this one: it keeps our process id, our descriptors 0 to 2, and our restrictions. */
export function replaceProcess(argv: readonly string[], env: Readonly<Record<string, string>>): never {
  const { dlopen, ptr } = require('bun:ffi') as typeof import('bun:ffi')
  const { symbols } = dlopen('libc.so.6', { execve: { args: ['cstring', 'ptr', 'ptr'], returns: 'i32' } } as const)
  // They must stay where they are until the call.
  const texts: Buffer[] = []
  const list = (values: readonly string[]) => {
    const own = values.map((value) => Buffer.from(`${value}\0`))
    texts.push(...own)
    return new BigUint64Array([...own.map((text) => BigInt(ptr(text))), 0n])
  }
  const program = Buffer.from(`${argv[0]}\0`)
  const [args, variables] = [list(argv), list(Object.entries(env).map((pair) => pair.join('=')))]
  symbols.execve(program, ptr(args), ptr(variables))
  throw new Error(`${argv[0]} could not be run in place of this program (${texts.length} arguments)`)
}
