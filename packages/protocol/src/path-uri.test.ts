import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  baseName,
  containsPath,
  conventionOf,
  fromPosixPath,
  fromWindowsPath,
  joinPath,
  type PathUri,
  parent,
  pathUri,
  samePath,
  toPosixBytes,
  toPosixPath,
} from './path-uri.ts'

const uri = (text: string) => pathUri(text)
const bytes = (...values: number[]) => Uint8Array.from(values)

describe('parsing a path URI', () => {
  test('accepts the spellings of one path and returns its canonical form', () => {
    for (const text of ['file:///a/b', 'file:/a/b', 'FILE:///a/b', 'file://localhost/a/b', 'file:///a/./x/../b']) {
      assert.equal(uri(text), 'file:///a/b')
    }
    assert.equal(uri('file:a.txt'), 'file:///a.txt')
    assert.equal(uri('file:///a/%2e%2e/b'), 'file:///b')
    assert.equal(uri('file:///%61'), 'file:///%61')
    assert.equal(uri('file:///c:/x'), 'file:///C:/x')
  })

  test('says what is wrong with the others', () => {
    const failures: [string, RegExp][] = [
      ['/etc/x', /relative URL without a base/],
      ['', /relative URL without a base/],
      ['http://x/y', /unsupported path URI scheme `http`/],
      ['file:///a?q', /query parameters are not allowed/],
      ['file:///a?', /query parameters are not allowed/],
      ['file:///a#f', /fragments are not allowed/],
      ['file://user@host/a', /invalid URI/],
      ['file://host:80/a', /invalid URI/],
      ['file:///a%00b', /is invalid on/],
    ]
    for (const [text, message] of failures) assert.throws(() => uri(text), message, text)
  })

  test('reads the convention from the spelling', () => {
    assert.equal(conventionOf(uri('file:///a')), 'posix')
    assert.equal(conventionOf(uri('file:///C:/a')), 'windows')
    assert.equal(conventionOf(uri('file://host/share')), 'windows')
    assert.equal(conventionOf(uri('file:///Cd:/a')), 'posix')
  })
})

describe('native paths', () => {
  test('POSIX paths come back as they went in', () => {
    assert.equal(fromPosixPath('/a b#?%'), 'file:///a%20b%23%3F%25')
    assert.equal(toPosixPath(uri('file:///a%20b%23%3F%25')), '/a b#?%')
    assert.equal(fromPosixPath('/ü\\n'), 'file:///%C3%BC%5Cn')
  })

  test('names that are not UTF-8 stay bytes', () => {
    const path = bytes(0x2f, 0xff, 0xfe)
    assert.equal(fromPosixPath(path), 'file:///%FF%FE')
    assert.deepEqual(toPosixPath(uri('file:///%FF%FE')), path)
  })

  test('a path without a faithful URI is carried whole', () => {
    for (const path of ['/C:/x', '/a/../b', 'relative']) {
      const opaque = fromPosixPath(path)
      assert.match(opaque, /^file:\/\/\/%00\/bad\/path\//)
      assert.equal(uri(opaque), opaque)
      assert.equal(toPosixPath(opaque), path)
      assert.equal(parent(opaque), undefined)
      assert.equal(baseName(opaque), undefined)
      assert.ok(containsPath(opaque, opaque))
      assert.ok(!containsPath(uri('file:///'), opaque))
      assert.throws(() => joinPath(opaque, 'x'), /cannot join/)
    }
    assert.throws(() => toPosixBytes('file:///%00/bad/path/*' as PathUri), /is invalid on/)
    assert.throws(() => toPosixBytes(fromPosixPath('/a\0b')), /is invalid on/)
  })

  test('paths of another system parse, and fail when they are used', () => {
    for (const text of ['file:///C:/x', 'file://host/share/x', 'file:///a%2Fb']) {
      assert.throws(() => toPosixPath(uri(text)), new RegExp(`'${text}' is invalid on 'linux'`))
    }
  })

  test('Windows paths', () => {
    assert.equal(fromWindowsPath('c:\\a b'), 'file:///C:/a%20b')
    assert.equal(fromWindowsPath('C:'), 'file:///C:/')
    assert.equal(fromWindowsPath('\\\\Srv\\share\\x'), 'file://srv/share/x')
    assert.equal(fromWindowsPath('\\\\?\\C:\\a'), 'file:///C:/a')
    assert.equal(fromWindowsPath('\\\\?\\UNC\\srv\\share'), 'file://srv/share')
    assert.match(fromWindowsPath('\\\\.\\pipe'), /%00\/bad\/path/)
  })

  test('any absolute POSIX path survives the round trip', () => {
    const path = fc.uint8Array({ min: 1, max: 255, maxLength: 40 }).map((tail) => Uint8Array.from([0x2f, ...tail]))
    fc.assert(
      fc.property(path, (native) => {
        const there = fromPosixPath(native)
        assert.equal(pathUri(there), there)
        const slashes = (p: Uint8Array) => Buffer.from(p).toString('latin1').replace(/^\/+/, '/')
        assert.equal(slashes(toPosixBytes(there)), slashes(native))
      }),
    )
  })
})

describe('paths among each other', () => {
  test('containment works on whole segments', () => {
    assert.ok(containsPath(uri('file:///a'), uri('file:///a')))
    assert.ok(containsPath(uri('file:///a/'), uri('file:///a/b')))
    assert.ok(containsPath(uri('file:///'), uri('file:///a')))
    assert.ok(!containsPath(uri('file:///a'), uri('file:///ab')))
    assert.ok(!containsPath(uri('file:///a/b'), uri('file:///a')))
    assert.ok(!containsPath(uri('file:///a'), uri('file:///a%2Fb')))
    assert.ok(!containsPath(uri('file:///C:/'), uri('file:///D:/x')))
  })

  test('Windows ignores the case of ASCII letters, POSIX does not', () => {
    assert.ok(samePath(uri('file:///C:/Ab'), uri('file:///c:/aB')))
    assert.ok(samePath(uri('file:///%61'), uri('file:///a')))
    assert.ok(!samePath(uri('file:///A'), uri('file:///a')))
  })

  test('join', () => {
    const base = uri('file:///a/b')
    assert.equal(joinPath(base, 'c d/%'), 'file:///a/b/c%20d/%25')
    assert.equal(joinPath(base, '../../../x'), 'file:///x')
    assert.equal(joinPath(base, '/x'), 'file:///x')
    assert.equal(joinPath(base, '~'), 'file:///a/b/~')
    assert.match(joinPath(uri('file:///'), 'C:'), /%00\/bad\/path/)
    assert.throws(() => joinPath(base, 'a\0'), /NUL/)
    const drive = uri('file:///C:/a')
    assert.equal(joinPath(drive, 'b\\..\\..\\..\\c'), 'file:///C:/c')
    assert.equal(joinPath(drive, 'D:\\x'), 'file:///D:/x')
    assert.equal(joinPath(drive, '\\x'), 'file:///C:/x')
    assert.equal(joinPath(drive, 'C:x'), 'file:///C:/a/x')
    assert.throws(() => joinPath(drive, 'D:x'), /another drive/)
    assert.equal(joinPath(uri('file://srv/share/a'), '..\\..\\b'), 'file://srv/share/b')
  })

  test('parent and base name stop at the root', () => {
    assert.equal(parent(uri('file:///a/b')), 'file:///a')
    assert.equal(parent(uri('file:///a')), 'file:///')
    assert.equal(parent(uri('file:///')), undefined)
    assert.equal(parent(uri('file:///C:/')), undefined)
    assert.equal(parent(uri('file://srv/share')), undefined)
    assert.equal(baseName(uri('file:///a/b%20c')), 'b c')
    assert.equal(baseName(uri('file:///')), undefined)
  })
})
