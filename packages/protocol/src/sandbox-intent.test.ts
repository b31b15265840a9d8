import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DecodeError } from './decode.ts'
import { optionalSandbox, type Permissions } from './sandbox-intent.ts'

const entry = (path: unknown, access: unknown = 'read', more: object = {}) => ({ path, access, ...more })
const special = (kind: string, more: object = {}) => ({ type: 'special', value: { kind, ...more } })
const managed = (entries: unknown[], more: object = {}) => ({
  type: 'managed',
  file_system: { type: 'restricted', entries, ...more },
  network: 'restricted',
})
const intent = (permissions: unknown, more: object = {}) =>
  optionalSandbox({ permissions, windowsSandboxLevel: 'disabled', ...more })
const permissionsOf = (permissions: unknown): Permissions => intent(permissions)!.permissions

function entriesOf(...entries: unknown[]) {
  const { type, ...rest } = permissionsOf(managed(entries))
  assert.equal(type, 'managed')
  return (rest as { file_system: { entries: unknown[] } }).file_system.entries
}

describe('a sandbox on the wire', () => {
  test('is optional: absent and null ask for none', () => {
    assert.equal(optionalSandbox(undefined), undefined)
    assert.equal(optionalSandbox(null), undefined)
  })

  test('may leave out everything but the permissions and the level for Windows', () => {
    assert.deepEqual(intent({ type: 'disabled' }), {
      permissions: { type: 'disabled' },
      windowsSandboxLevel: 'disabled',
      cwd: undefined,
      workspaceRoots: [],
      useLegacyLandlock: false,
      sandboxOverride: undefined,
      temporaryDirectories: undefined,
      policyContext: undefined,
    })
  })

  test('carries the directories that its words stand for', () => {
    const given = intent(managed([]), {
      cwd: 'file:///w/./x/..',
      workspaceRoots: ['file:///w'],
      temporaryDirectories: ['file:///t'],
      policyContext: { cwd: 'file:///p', workspaceRoots: ['file:///p'] },
      sandboxOverride: 'noOverride',
      somethingNewer: 1,
    })
    assert.equal(given?.cwd, 'file:///w/')
    assert.deepEqual(given?.workspaceRoots, ['file:///w'])
    assert.deepEqual(given?.temporaryDirectories, ['file:///t'])
    assert.deepEqual(given?.policyContext, { cwd: 'file:///p', workspaceRoots: ['file:///p'] })
    assert.deepEqual(intent(managed([]), { policyContext: {} })?.policyContext, { cwd: undefined, workspaceRoots: [] })
    for (const name of ['cwd', 'temporaryDirectories', 'policyContext', 'sandboxOverride']) {
      assert.ok(intent(managed([]), { [name]: null }), name)
    }
  })

  test('that is not one is refused with the member at fault', () => {
    const level = { windowsSandboxLevel: 'disabled' }
    const failures: [unknown, RegExp][] = [
      [{}, /missing field `permissions`/],
      [{ permissions: {} }, /missing field `type`/],
      [{ permissions: { type: 'managed' } }, /missing field `file_system`/],
      [
        { permissions: { type: 'bogus' } },
        /unknown variant `bogus`, expected one of `managed`, `disabled`, `external`/,
      ],
      [{ permissions: { type: null, network: {} } }, /type: expected a string, got null/],
      [{ permissions: { type: 'managed', file_system: { type: 'restricted' } } }, /missing field `entries`/],
      [{ permissions: { type: 'managed', file_system: { type: 'other' } } }, /unknown variant `other`/],
      [
        { permissions: { type: 'managed', file_system: { type: 'restricted', entries: [] } } },
        /missing field `network`/,
      ],
      [{ permissions: { ...managed([]), network: 'nope' } }, /unknown variant `nope`/],
      [{ permissions: { type: 'external' } }, /missing field `network`/],
      [{ permissions: managed([]) }, /missing field `windowsSandboxLevel`/],
      [{ permissions: managed([]), windowsSandboxLevel: 'nope' }, /unknown variant `nope`, expected one of `disabled`/],
      [{ permissions: managed([entry({ type: 'path', path: '/native' })]), ...level }, /relative URL without a base/],
      [{ permissions: managed([entry({ type: 'path' })]), ...level }, /missing field `path`/],
      [{ permissions: managed([entry({ type: 'regex', pattern: 'x' })]), ...level }, /unknown variant `regex`/],
      [
        { permissions: managed([entry(special('bogus'))]), ...level },
        /unknown variant `bogus`, expected one of `root`/,
      ],
      [{ permissions: managed([entry(special('unknown'))]), ...level }, /missing field `path`/],
      [{ permissions: managed([entry(special('root'), 'execute')]), ...level }, /unknown variant `execute`/],
      [{ permissions: managed([{ path: special('root') }]), ...level }, /missing field `access`/],
      [
        { permissions: managed([entry(special('root'), 'read', { missing_path_behavior: 'fail' })]), ...level },
        /unknown variant `fail`/,
      ],
      [{ permissions: managed([], { glob_scan_max_depth: 0 }), ...level }, /expected a number above 0, got 0/],
      [{ permissions: managed([], { glob_scan_max_depth: 1.5 }), ...level }, /expected a whole number/],
      [{ permissions: managed([]), ...level, sandboxOverride: 'x' }, /unknown variant `x`/],
      [{ permissions: managed([]), ...level, workspaceRoots: null }, /expected an array, got null/],
      [{ permissions: managed([]), ...level, cwd: 'C:\\x' }, /unsupported path URI scheme `c`/],
    ]
    for (const [value, message] of failures) {
      assert.throws(
        () => optionalSandbox(value),
        (error: unknown) => error instanceof DecodeError && message.test(error.message),
        JSON.stringify(value),
      )
    }
  })
})

describe('entries of a profile', () => {
  test('keep their special paths as words', () => {
    const kinds = ['root', 'minimal', 'tmpdir', 'slash_tmp', 'project_roots']
    assert.deepEqual(
      entriesOf(...kinds.map((kind) => entry(special(kind)))),
      kinds.map((kind) => entry(special(kind))),
    )
    assert.deepEqual(entriesOf(entry(special('project_roots', { subpath: 'a/b' }), 'write')), [
      entry(special('project_roots', { subpath: 'a/b' }), 'write'),
    ])
  })

  test('know the older words `current_working_directory` and `none`', () => {
    assert.deepEqual(entriesOf(entry(special('current_working_directory', { subpath: null }), 'none')), [
      entry(special('project_roots'), 'deny'),
    ])
  })

  test('keep a word of a newer peer, which says which one it was', () => {
    assert.deepEqual(entriesOf(entry(special('unknown', { path: ':future', subpath: 'x' }), 'write')), [
      entry(special('unknown', { path: ':future' }), 'write'),
    ])
  })

  test('may be told to say nothing if their path is missing', () => {
    assert.deepEqual(entriesOf(entry(special('root'), 'read', { missing_path_behavior: 'skip' })), [
      entry(special('root'), 'read', { missing_path_behavior: 'skip' }),
    ])
    assert.deepEqual(entriesOf(entry(special('root'), 'read', { missing_path_behavior: null })), [
      entry(special('root')),
    ])
  })

  test('can only deny what a pattern matches', () => {
    const pattern = { type: 'glob_pattern', pattern: '**/*.env' }
    for (const access of ['deny', 'none']) assert.deepEqual(entriesOf(entry(pattern, access)), [entry(pattern, 'deny')])
    for (const access of ['read', 'write']) {
      assert.throws(() => entriesOf(entry(pattern, access)), /a glob pattern can only deny access/)
    }
  })
})

describe('a profile from before there were types', () => {
  const legacy = (value: object) => permissionsOf(value)

  test('restricts the network unless it says otherwise', () => {
    const files = { type: 'restricted', entries: [] }
    assert.deepEqual(legacy({ network: {} }), { type: 'managed', file_system: files, network: 'restricted' })
    assert.deepEqual(legacy({ network: null }), { type: 'managed', file_system: files, network: 'restricted' })
    assert.deepEqual(legacy({ network: { enabled: false } }), legacy({ network: {} }))
    assert.deepEqual(legacy({ network: { enabled: true } }), {
      type: 'managed',
      file_system: files,
      network: 'enabled',
    })
  })

  test('restricts files to its entries', () => {
    assert.deepEqual(legacy({ file_system: { entries: [entry(special('root'), 'none')], glob_scan_max_depth: 2 } }), {
      type: 'managed',
      file_system: { type: 'restricted', entries: [entry(special('root'), 'deny')], glob_scan_max_depth: 2 },
      network: 'restricted',
    })
  })

  test('has nothing else in it', () => {
    assert.throws(() => legacy({ network: { enabled: true }, extra: 1 }), /missing field `type`/)
    assert.throws(() => legacy({ network: { enabled: 'yes' } }), /expected a boolean/)
    assert.throws(() => legacy({ file_system: {} }), /missing field `entries`/)
  })
})
