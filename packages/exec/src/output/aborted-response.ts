/** What the model reads of a call that a person has interrupted. */
export function formatAborted(tool: string, elapsedMs: number): string {
  const seconds = Math.max(0.1, elapsedMs / 1000).toFixed(1)
  return tool === 'exec_command'
    ? `Wall time: ${seconds} seconds\naborted by user`
    : `aborted by user after ${seconds}s`
}
