export { grammarFiles } from './bash-grammar.ts'
