export { glob } from './glob.ts'
export { grep } from './grep.ts'
