import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ExecError } from '../errors.ts'
import { pathFromText } from './path-from-text.ts'

describe('a directory', () => {
  test('is read by its spelling, on whatever system it is', () => {
    const cases: [string, string][] = [
      ['/', 'file:///'],
      ['/home/me', 'file:///home/me'],
      ['/a b/ü', 'file:///a%20b/%C3%BC'],
      ['/a//b/', 'file:///a/b'],
      ['/a/./b/../c', 'file:///a/c'],
      ['/../..', 'file:///'],
      ['/a\\b', 'file:///a%5Cb'],
      ['C:\\me', 'file:///C:/me'],
      ['c:/me/x', 'file:///C:/me/x'],
      ['C:\\a\\..\\b', 'file:///C:/b'],
      ['\\\\srv\\share\\x', 'file://srv/share/x'],
      ['\\\\?\\C:\\me', 'file:///C:/me'],
      ['file:///home/me', 'file:///home/me'],
      ['FILE:/home/me', 'file:///home/me'],
      ['file:///c:/me', 'file:///C:/me'],
      ['file:///%FF', 'file:///%FF'],
    ]
    for (const [text, uri] of cases) assert.equal(pathFromText(text), uri, text)
  })

  test('that is relative, too long or no path is refused', () => {
    const cases: [string, RegExp][] = [
      ['', /is not absolute/],
      ['here', /is not absolute/],
      ['~/here', /is not absolute/],
      ['C:', /is not absolute/],
      ['C:here', /is not absolute/],
      ['http://x/y', /is not absolute/],
      ['\\here', /is not absolute/],
      ['/a\0b', /NUL/],
      ['C:\\a\0b', /is not a path/],
      ['file:///a?b', /query parameters are not allowed/],
      ['file:///a%00b', /is not a path/],
      [`/${'x'.repeat(32_767)}`, /32768 characters; 32767 are allowed/],
    ]
    for (const [text, message] of cases) {
      assert.throws(
        () => pathFromText(text),
        (error) => ExecError.is(error, 'SELECTION_INVALID') && message.test(error.message),
        JSON.stringify(text.slice(0, 20)),
      )
    }
  })
})
