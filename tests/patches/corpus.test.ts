import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { sandboxProfiles } from '@waldo/environment'
import { fromPosixPath, type SandboxRequest } from '@waldo/protocol'
import { applyPatchText } from '../../packages/exec/src/patch/apply-patch-text.ts'
import { scratch } from '../environments/scratch.ts'
import { corpus } from './corpus/index.ts'
import { openSettings } from './settings.ts'
import { expectedTree, readTree, writeTree } from './tree.ts'

// What new files look like must not depend on who runs this; executors take it over.
process.umask(0o022)

const noSandbox = process.platform === 'linux' ? false : 'executors have a sandbox on Linux only'
const settings = await openSettings()
const workspace = scratch()
let count = 0

for (const { title, environment } of settings.all) {
  cases(`applied ${title}`, environment, undefined)
  cases(`applied ${title}, in a sandbox`, environment, sandboxProfiles.workspaceWrite({ roots: [workspace.path] }))
}

function cases(title: string, { files }: (typeof settings.all)[number]['environment'], sandbox?: SandboxRequest) {
  describe(`patches ${title}`, { skip: sandbox ? noSandbox : false }, () => {
    for (const [subject, group] of Object.entries(corpus)) {
      describe(subject, () => {
        for (const { title, before, patch, after: expected, error } of group) {
          test(title, async () => {
            const directory = workspace.at(`case-${++count}`)
            writeTree(directory, before)
            const applying = applyPatchText(patch, { files, cwd: fromPosixPath(directory), sandbox })
            if (error) await assert.rejects(applying, error)
            else await applying
            assert.deepEqual(readTree(directory), expectedTree(expected ?? before))
          })
        }
      })
    }
  })
}

after(async () => {
  await settings[Symbol.asyncDispose]()
  workspace[Symbol.dispose]()
})
