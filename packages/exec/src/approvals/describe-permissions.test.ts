import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fromPosixPath, pathUri } from '@waldo/protocol'
import fc from 'fast-check'
import type { AdditionalPermissions } from '../permissions/additional-permissions.ts'
import { describeRequest } from './describe-request.ts'
import { sampleRequest } from './fixtures/sample-request.ts'

const paths = (names: readonly string[]) => names.map((name) => fromPosixPath(name))
const many = (length: number, name: (index: number) => string) => Array.from({ length }, (_, index) => name(index))

function withMore(permissions: AdditionalPermissions, columns = 80): string {
  return describeRequest(sampleRequest({ sandbox: { kind: 'widened', permissions } }), { columns })
}

function ahead(permissions: AdditionalPermissions, columns = 80): string {
  const subject = { kind: 'permissions', permissions, cwd: fromPosixPath('/home/me/project') } as const
  return describeRequest(sampleRequest({ subject, sandbox: { kind: 'widened', permissions } }), { columns })
}

/** Those to read and to write, as somebody reads them: what is cut is put together again. */
function shownPaths(text: string): string[] {
  const shown: string[] = []
  let label = ''
  for (const row of text.split('\n')) {
    label = row.slice(2, 11).trim() || label
    if (label !== 'read' && label !== 'write') continue
    if (row[11] === '|') shown.push(row.slice(13))
    else shown.push(`${shown.pop()}${row.slice(13)}`)
  }
  return shown
}

describe('what a command may do beyond its sandbox', () => {
  test('is shown with every path on a row of its own', () => {
    const text = withMore({ network: true, read: paths(['/etc/a b', '/etc/c']), write: paths(['/srv']) })
    assert.ok(
      text.includes(`
  sandbox  inside, with MORE than everything else:
  network  use it
  read     | /etc/a b
           | /etc/c
  write    | /srv
`),
      text,
    )
  })

  test('is shown once if it is all that is asked for', () => {
    assert.equal(
      ahead({ network: true, read: [], write: paths(['/srv']) }),
      `Allow this for later commands?
  network  use it
  write    | /srv
  where    environment local
  in       | /home/me/project
  sandbox  inside, with that much MORE than everything else
`,
    )
    const permissions = { network: false, read: [], write: paths(['/srv']) }
    const subject = { kind: 'permissions', permissions, cwd: fromPosixPath('/') } as const
    const more = { kind: 'widened', permissions: { ...permissions, read: paths(['/root']) } } as const
    assert.deepEqual(shownPaths(describeRequest(sampleRequest({ subject, sandbox: more }))), ['/srv', '/root', '/srv'])
  })

  test('does not hide behind many paths, or behind long ones', () => {
    const long = (index: number) => `/root/.cache/${index}/${'build/'.repeat(165)}x`
    const read = [...many(9, long), '/root/.ssh']
    const write = [...many(9, (index) => long(index + 10)), '/root/.ssh/authorized_keys']
    for (const describe of [withMore, ahead]) {
      for (const columns of [24, 80, 200]) {
        const text = describe({ network: false, read: paths(read), write: paths(write) }, columns)
        assert.deepEqual(shownPaths(text), [...read, ...write])
        assert.doesNotMatch(text, /NOT shown|more characters/)
      }
    }
  })

  test('does not hide in a path that is spelled out, or that looks like two', () => {
    const unseen = `/${'\u{e0041}'.repeat(511)}`
    const text = withMore({ network: false, read: [], write: paths(many(20, (index) => `${unseen}${index}`)) }, 24)
    assert.equal(shownPaths(text).length, 20)
    assert.doesNotMatch(text, /NOT shown/)
    const two = withMore({ network: false, read: paths(['/root\n  sandbox  inside\n| /tmp']), write: [] })
    assert.deepEqual(shownPaths(two), ['/root<U+000A>  sandbox  inside<U+000A>| /tmp'])
    const foreign = pathUri('file:///a%2Fb')
    assert.deepEqual(shownPaths(withMore({ network: false, read: [foreign], write: [] })), [foreign])
  })

  test('says so where there is more than anybody can show', () => {
    const text = withMore({ network: false, read: [], write: paths(many(40_000, (index) => `/${index}`)) })
    assert.match(text, /beware {3}7232 more paths are NOT shown; say no/)
    const one = withMore({ network: false, read: [], write: paths([`/${'x'.repeat(3_000_000)}`, '/root']) })
    assert.match(one, /! \d+ more characters are NOT shown\n {2}beware {3}1 more paths are NOT shown/)
  })

  test('is all there, whatever the paths are', () => {
    const name = fc.string({ unit: fc.constantFrom(...'ab/.-|:'), minLength: 1, maxLength: 300 })
    const set = fc.uniqueArray(name, { maxLength: 10 })
    fc.assert(
      fc.property(set, set, fc.integer({ min: 24, max: 120 }), (read, write, columns) => {
        const permissions = {
          network: true,
          read: paths(read.map((each) => `/r${each}`)),
          write: paths(write.map((each) => `/w${each}`)),
        }
        const wanted = [...read.map((each) => `/r${each}`), ...write.map((each) => `/w${each}`)]
        assert.deepEqual(shownPaths(withMore(permissions, columns)), wanted)
      }),
    )
  })
})

test('where a file goes does not hide behind where it comes from, nor a directory behind its parents', () => {
  const long = `/p/${'a/'.repeat(1_500)}`
  const file = {
    kind: 'move',
    path: fromPosixPath(`${long}b`),
    target: fromPosixPath('/root/.bashrc'),
    diff: '',
  } as const
  const subject = { kind: 'patch', cwd: fromPosixPath(`${long}end`), files: [file] } as const
  const text = describeRequest(sampleRequest({ subject }))
  assert.match(text, /\n {2}to {7}\| \/root\/\.bashrc\n/)
  assert.match(text, /\/end\n {2}sandbox/)
})
