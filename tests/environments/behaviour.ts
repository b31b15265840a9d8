import { describe } from 'node:test'
import { fileBehaviour } from './behaviour/files.ts'
import { httpBehaviour } from './behaviour/http.ts'
import { lifecycleBehaviour } from './behaviour/lifecycle.ts'
import { outputBehaviour } from './behaviour/output.ts'
import { processBehaviour } from './behaviour/processes.ts'
import type { Setting } from './behaviour/setting.ts'

/** Registers what every environment does, wherever it is. Any difference between two of them is a bug. */
export function behaviour(setting: Setting): void {
  describe(`an environment ${setting.title}`, () => {
    describe('runs processes', () => processBehaviour(setting))
    describe('keeps what they say', () => outputBehaviour(setting))
    describe('works on files', () => fileBehaviour(setting))
    describe('makes requests', () => httpBehaviour(setting))
    describe('comes and goes', () => lifecycleBehaviour(setting))
  })
}
