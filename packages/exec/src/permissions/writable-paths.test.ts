import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromPosixPath, type Permissions } from '@waldo/protocol'
import { permissionsOf } from './sandbox-requests.ts'
import { isWritable } from './writable-paths.ts'

const uri = fromPosixPath
const place = { cwd: uri('/work'), workspaceRoots: [uri('/work')], temporaryDirectories: [uri('/var/tmp')] }
const writable = (permissions: Permissions, path: string) => isWritable(uri(path), permissions, place)

test('the workspace and temporary files may be written, but not what tools keep there', () => {
  const workspace = permissionsOf('workspace')
  for (const path of ['/work', '/work/a/b', '/tmp/x', '/var/tmp/x']) assert.ok(writable(workspace, path), path)
  for (const path of ['/', '/worker', '/etc/x', '/work/.git/config', '/work/.waldo/rules/a.rules', '/tmpfile']) {
    assert.ok(!writable(workspace, path), path)
  }
})

test('profiles without rules for files allow everything, and one that only reads nothing', () => {
  assert.ok(writable({ type: 'disabled' }, '/etc/x'))
  assert.ok(writable({ type: 'external', network: 'enabled' }, '/etc/x'))
  assert.ok(writable({ type: 'managed', network: 'enabled', file_system: { type: 'unrestricted' } }, '/etc/x'))
  assert.ok(!writable(permissionsOf('read-only'), '/work/x'))
})

test('of two words about a path the more specific one counts, and of two alike the stricter', () => {
  const entry = (path: string, access: 'read' | 'write' | 'deny') => ({
    path: { type: 'path' as const, path: uri(path) },
    access,
  })
  const profile = (...entries: ReturnType<typeof entry>[]): Permissions => {
    return { type: 'managed', network: 'enabled', file_system: { type: 'restricted', entries } }
  }
  const nested = profile(
    entry('/a/b', 'read'),
    entry('/a', 'write'),
    entry('/a/b/c', 'write'),
    entry('/a/b/c/d', 'deny'),
  )
  const answers = ['/a', '/a/b', '/a/b/c', '/a/b/c/d/e'].map((path) => writable(nested, path))
  assert.deepEqual(answers, [true, false, true, false])
  assert.ok(!writable(profile(entry('/a', 'write'), entry('/a', 'read')), '/a/x'))
})
