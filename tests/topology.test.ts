import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'

/** Which of our packages each may import, and whether what it exports runs everywhere. Change it with a reason. */
const PACKAGES: Record<string, { imports: string[]; portable?: true }> = {
  protocol: { imports: [], portable: true },
  rpc: { imports: [], portable: true },
  environment: { imports: ['protocol'], portable: true },
  sandbox: { imports: ['protocol'] },
  local: { imports: ['environment', 'protocol', 'sandbox'] },
  server: { imports: ['environment', 'local', 'protocol', 'rpc', 'sandbox'] },
  client: { imports: ['environment', 'protocol', 'rpc'], portable: true },
  exec: { imports: ['environment', 'protocol'], portable: true },
  sdk: { imports: ['client', 'environment', 'protocol', 'server'] },
  cli: { imports: ['environment', 'exec', 'protocol', 'sandbox', 'sdk', 'server'] },
  testkit: { imports: [] },
}

const ROOT = join(import.meta.dir, '..')
const sources = (name: string) =>
  readdirSync(join(ROOT, 'packages', name, 'src'), { recursive: true })
    .map(String)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => ({
      file: `${name}/src/${file}`,
      text: readFileSync(join(ROOT, 'packages', name, 'src', file), 'utf8'),
    }))

/** The specifiers of `import … from`, `export … from`, `import()` and `require()`. */
function importsOf(text: string): string[] {
  return [...text.matchAll(/(?:\bfrom|\bimport\(|\brequire\(|^import)\s*'([^']+)'/gm)].map(
    ([, specifier]) => specifier!,
  )
}

describe('packages', () => {
  test('are all in the table', () => {
    assert.deepEqual(readdirSync(join(ROOT, 'packages')).sort(), Object.keys(PACKAGES).sort())
  })

  for (const [name, { imports, portable }] of Object.entries(PACKAGES)) {
    test(`${name} imports only what it may`, () => {
      const { dependencies = {} } = JSON.parse(readFileSync(join(ROOT, 'packages', name, 'package.json'), 'utf8'))
      for (const { file, text } of sources(name)) {
        for (const specifier of importsOf(text)) {
          const [, sibling] = /^@waldo\/([^/]+)/.exec(specifier) ?? []
          if (sibling === undefined) continue
          assert.ok(imports.includes(sibling), `${file} imports ${specifier}`)
          assert.ok(`@waldo/${sibling}` in dependencies, `${name} does not declare ${specifier}`)
        }
      }
    })

    if (portable) {
      test(`${name} needs no particular runtime`, () => {
        for (const { file, text } of sources(name)) {
          // Behind a door that says so.
          if (/\/src\/node(\.ts$|\/)/.test(file)) continue
          const native = importsOf(text).filter((specifier) => /^(node|bun):|^bun$/.test(specifier))
          assert.deepEqual(native, [], file)
          assert.doesNotMatch(text, /\bBun\.|\bprocess\.(env|platform|argv)\b/, file)
        }
      })
    }
  }

  test('reach into each other only through the front door', () => {
    for (const name of Object.keys(PACKAGES)) {
      for (const { file, text } of sources(name)) {
        for (const specifier of importsOf(text))
          assert.doesNotMatch(specifier, /^\.\..*\/packages\/|^@waldo\/[^/]+\/src/, file)
      }
    }
  })
})
