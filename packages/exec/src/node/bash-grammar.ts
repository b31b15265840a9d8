import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { isAbsolute } from 'node:path'
import type { GrammarFiles } from '../script/bash-grammar.ts'

/** The wasm files of the packages we depend on, from wherever this code runs. */
export const grammarFiles: GrammarFiles = {
  // The attribute makes bundlers take the file along: beside a bundle, or into a single-file executable.
  runtime: () =>
    read(
      () => import('web-tree-sitter/web-tree-sitter.wasm', { with: { type: 'file' } }),
      'web-tree-sitter/web-tree-sitter.wasm',
    ),
  bash: () =>
    read(
      () => import('@vscode/tree-sitter-wasm/wasm/tree-sitter-bash.wasm', { with: { type: 'file' } }),
      '@vscode/tree-sitter-wasm/wasm/tree-sitter-bash.wasm',
    ),
}

/** Node does not know the attribute: unbundled, it finds the file as it finds any file of a package. */
async function read(taken: () => Promise<{ default: string }>, specifier: string): Promise<Uint8Array> {
  const path = await taken().then(
    (module) => (isAbsolute(module.default) ? module.default : new URL(module.default, import.meta.url)),
    () => createRequire(import.meta.url).resolve(specifier),
  )
  return new Uint8Array(await readFile(path))
}
