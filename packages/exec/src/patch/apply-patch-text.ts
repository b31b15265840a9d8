import { commitPatch } from './commit-patch.ts'
import { parsePatch } from './parse-patch.ts'
import { type VerifyOptions, verifyPatch } from './verify-patch.ts'

/** Parses, verifies and writes a patch, without asking anybody. Returns what to print. */
export async function applyPatchText(text: string, options: VerifyOptions): Promise<string> {
  const verified = await verifyPatch(parsePatch(text), options)
  const { text: success, leftBehind } = await commitPatch(verified, options)
  return success + leftBehind.map((path) => `This temporary file could not be removed: ${path}\n`).join('')
}
