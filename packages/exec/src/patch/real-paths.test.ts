import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ExecError } from '@waldo/environment'
import { fromPosixPath as uri } from '@waldo/protocol'
import { type Canonical, RealPaths } from './real-paths.ts'

function realPaths(canonical: Readonly<Record<string, string | undefined | ExecError>>, ...homes: string[]): RealPaths {
  const known = Object.entries(canonical).map(([path, real]): [ReturnType<typeof uri>, Canonical] => [
    uri(path),
    typeof real === 'string' ? uri(real) : real,
  ])
  return new RealPaths(
    new Map(known),
    homes.map((home) => uri(home)),
  )
}

describe('where a path leads to', () => {
  test('is told by the first home that it is in, and otherwise without links', () => {
    const paths = realPaths({ '/': '/', '/a': '/real', '/b': '/real/in', '/real/in': '/real/in' }, '/b', '/a')
    const named = (path: string) => {
      const found = paths.entry(uri(path))
      return ExecError.is(found) ? found : found.path
    }
    assert.deepEqual(
      ['/a/f', '/b/f', '/real/in/f', '/f'].map(named),
      ['/a/f', '/b/f', '/b/f', '/f'].map((path) => uri(path)),
    )
    assert.equal(paths.directory(uri('/b')), uri('/b'))
  })

  test('a home ends at its last letter, and may be the root', () => {
    const beside = realPaths({ '/': '/', '/home': '/data', '/database': '/database' }, '/home')
    assert.equal(beside.directory(uri('/database')), uri('/database'))
    const root = realPaths({ '/': '/', '/x': '/y' }, '/')
    assert.equal(root.directory(uri('/x')), uri('/y'))
  })

  test('what is not there yet is where the nearest directory that is there leads to', () => {
    const paths = realPaths({ '/': '/', '/ws': '/ws', '/ws/link': '/out' }, '/ws')
    assert.deepEqual(paths.entry(uri('/ws/link/a/b/f')), {
      real: uri('/out/a/b/f'),
      path: uri('/out/a/b/f'),
      missingDirectories: [uri('/out/a'), uri('/out/a/b')],
    })
  })

  test('behind a directory that only an encoding names it is unknown: names behind that would be read as part of it', () => {
    const paths = realPaths(
      { '/': '/', '/ws': '/ws', '/ws/link': '/C:', '/C:/home': '/data', '/data': '/data' },
      '/C:/home',
    )
    for (const path of ['/ws/link/x', '/ws/link/new/x']) {
      assert.ok(ExecError.is(paths.entry(uri(path)), 'FILE_INVALID'), path)
    }
    assert.equal(paths.directory(uri('/data')), uri('/data'))
  })

  test('behind a directory that cannot be looked at it is unknown, and for the same reason', () => {
    const error = new ExecError('FILE_DENIED', 'no')
    const paths = realPaths({ '/': '/', '/closed': error })
    assert.equal(paths.entry(uri('/closed/a/f')), error)
    assert.equal(paths.directory(uri('/closed')), error)
  })
})
