import { commitPatch } from './commit-patch.ts'
import { parsePatch } from './parse-patch.ts'
import type { Patch } from './patch.ts'
import { type VerifyOptions, verifyPatch } from './verify-patch.ts'

/** Parses a patch, if that has not been done, verifies and writes it, without asking anybody. Returns what to print. */
export async function applyPatchText(patch: string | Patch, options: VerifyOptions): Promise<string> {
  const verified = await verifyPatch(typeof patch === 'string' ? parsePatch(patch) : patch, options)
  const { text, leftBehind } = await commitPatch(verified, options)
  return text + leftBehind.map((path) => `This temporary file could not be removed: ${path}\n`).join('')
}
