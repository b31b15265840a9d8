export { TreeWatch } from './tree-watch.ts'
export { watchMissing } from './watch-missing.ts'
