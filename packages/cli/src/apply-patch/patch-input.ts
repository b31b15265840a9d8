import { printError } from '../print.ts'
import { UsageError } from '../usage-error.ts'

/** More than any patch may have. What comes is read to its end otherwise. */
const MAX_BYTES = 32 * 1024 * 1024

/** The patch on our standard input. */
export async function readPatchInput(): Promise<string> {
  if (process.stdin.isTTY) printError('waldo: type or paste the patch; Ctrl-D ends it')
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of process.stdin as AsyncIterable<Uint8Array>) {
    chunks.push(chunk)
    length += chunk.length
    if (length > MAX_BYTES) throw new UsageError(`the patch has more than ${MAX_BYTES} bytes`, 'Split it.')
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch {
    throw new UsageError('the patch is not UTF-8', 'Nothing was changed.')
  }
}
