import { type PatchCase, patch } from '../patch-case.ts'

export const moving: readonly PatchCase[] = [
  {
    title: 'a file is moved as it is',
    before: { a: 'x\n' },
    patch: patch('*** Update File: a', '*** Move to: b'),
    after: { b: 'x\n' },
  },
  {
    title: 'a file is moved and changed',
    before: { a: '1\n2\n3\n' },
    patch: patch('*** Update File: a', '*** Move to: b', '@@', ' 1', '-2', '+two'),
    after: { b: '1\ntwo\n3\n' },
  },
  {
    title: 'what is moved takes its mode along',
    before: { a: { content: '#!/bin/sh\n', mode: 0o755 } },
    patch: patch('*** Update File: a', '*** Move to: bin/a', '@@', ' #!/bin/sh', '+echo'),
    after: { 'bin/a': { content: '#!/bin/sh\necho\n', mode: 0o755 } },
  },
  {
    title: 'new directories are made for what is moved, and the old one stays',
    before: { 'x/a': '1\n' },
    patch: patch('*** Update File: x/a', '*** Move to: y/z/a'),
    after: { x: 'dir/', 'y/z/a': '1\n' },
  },
  {
    title: 'what is moved overwrites what is there, whose mode stays',
    before: { a: '1\n', b: { content: '2\n', mode: 0o600 } },
    patch: patch('*** Update File: a', '*** Move to: b', '@@', '-1', '+one'),
    after: { b: { content: 'one\n', mode: 0o600 } },
  },
  {
    title: 'what is moved overwrites the same content',
    before: { a: '1\n', b: '1\n' },
    patch: patch('*** Update File: a', '*** Move to: b'),
    after: { b: '1\n' },
  },
  {
    title: 'a file that is moved to where it is is only updated',
    before: { a: '1\n' },
    patch: patch('*** Update File: a', '*** Move to: ./a', '@@', '-1', '+2'),
    after: { a: '2\n' },
  },
  {
    title: 'two files are moved at once',
    before: { a: '1\n', b: '2\n' },
    patch: patch('*** Update File: a', '*** Move to: d/a', '*** Update File: b', '*** Move to: d/b'),
    after: { 'd/a': '1\n', 'd/b': '2\n' },
  },
  {
    title: 'a file is not moved onto a directory',
    before: { a: '1\n', d: 'dir/' },
    patch: patch('*** Update File: a', '*** Move to: d'),
    error: /Failed to move to d: it is a directory/,
  },
  {
    title: 'a file is not moved onto a link',
    before: { a: '1\n', f: '2\n', l: { link: 'f' } },
    patch: patch('*** Update File: a', '*** Move to: l'),
    error: /Failed to move to l: it is a symbolic link/,
  },
  {
    title: 'what is not there is not moved',
    before: {},
    patch: patch('*** Update File: a', '*** Move to: b'),
    error: /Failed to update a: there is no such file/,
  },
  {
    title: 'two files do not change places in one patch',
    before: { a: '1\n', b: '2\n' },
    patch: patch('*** Update File: a', '*** Move to: b', '*** Update File: b', '*** Move to: a'),
    error: /multiple operations target b .*: another file is moved there/,
  },
  {
    title: 'two files are not moved to one place',
    before: { a: '1\n', b: '2\n' },
    patch: patch('*** Update File: a', '*** Move to: c', '*** Update File: b', '*** Move to: c'),
    error: /multiple operations target b .*: another file is moved there/,
  },
  {
    title: 'a file is not moved twice',
    before: { a: '1\n' },
    patch: patch('*** Update File: a', '*** Move to: b', '*** Update File: a', '*** Move to: c'),
    error: /multiple operations target a .*: it is moved before/,
  },
  {
    title: 'a file is not moved over one that the patch has changed',
    before: { a: '1\n', b: '2\n' },
    patch: patch('*** Update File: b', '@@', '-2', '+3', '*** Update File: a', '*** Move to: b'),
    error: /multiple operations target a .*: b is updated before/,
  },
  {
    title: 'a file that was updated is not moved in another section',
    before: { a: '1\n' },
    patch: patch('*** Update File: a', '@@', '-1', '+2', '*** Update File: a', '*** Move to: b'),
    error: /multiple operations target a .*: it is updated before, and moved only now/,
  },
  {
    title: 'a move needs a path',
    before: { a: '1\n' },
    patch: patch('*** Update File: a', '*** Move to:  '),
    error: /invalid hunk at line 3, the path is empty/,
  },
  {
    title: 'a move that fails leaves the old file where it is',
    before: { a: '1\n' },
    patch: patch('*** Update File: a', '*** Move to: x/b', '@@', '-2', '+3'),
    error: /Failed to find expected lines in a \(hunk 1, line 4 of the patch\):\n2/,
  },
]
