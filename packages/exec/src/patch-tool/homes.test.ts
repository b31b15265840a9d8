import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromPosixPath as uri } from '@waldo/protocol'
import { permissionsOf } from '../permissions/sandbox-requests.ts'
import { homesOf } from './homes.ts'

test('files are known by the names that the user gave, but for those that a model could give another meaning', () => {
  const homes = (cwd: string, ...roots: string[]) => {
    const place = {
      cwd: uri(cwd),
      workspaceRoots: roots.map((root) => uri(root)),
      temporaryDirectories: [uri('/var/tmp')],
    }
    return homesOf(permissionsOf('workspace'), place)
  }
  assert.deepEqual(homes('/a', '/b', '/c'), [uri('/b'), uri('/c'), uri('/a')])
  assert.deepEqual(homes('/a/docs', '/a', '/a/vendor', '/ab'), [uri('/a'), uri('/ab')])
  for (const replaceable of ['/tmp/x', '/tmp/x/y', '/var/tmp/x'])
    assert.deepEqual(homes(replaceable, '/a'), [uri('/a')])
  // What is above a workspace is not in it.
  assert.deepEqual(homes('/a', '/a/link'), [uri('/a/link'), uri('/a')])
})
