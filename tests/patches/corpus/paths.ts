import { type PatchCase, patch } from '../patch-case.ts'

const deep = Array.from({ length: 20 }, (_, index) => `d${index}`).join('/')

export const paths: readonly PatchCase[] = [
  {
    title: 'a path may start with ./',
    before: { 'a/f': '1\n' },
    patch: patch('*** Update File: ./a/f', '@@', '-1', '+2'),
    after: { 'a/f': '2\n' },
  },
  {
    title: 'a path may go up and down',
    before: { 'a/f': '1\n', b: 'dir/' },
    patch: patch('*** Update File: b/../a/f', '@@', '-1', '+2'),
    after: { 'a/f': '2\n', b: 'dir/' },
  },
  {
    title: 'spaces around a path do not belong to it',
    before: { f: '1\n' },
    patch: patch('*** Update File:   f  ', '@@', '-1', '+2'),
    after: { f: '2\n' },
  },
  {
    title: 'a path with spaces in it',
    before: { 'my file.txt': '1\n' },
    patch: patch('*** Update File: my file.txt', '@@', '-1', '+2'),
    after: { 'my file.txt': '2\n' },
  },
  {
    title: 'a path with a backslash is a name on this system',
    before: { 'a\\b': '1\n' },
    patch: patch('*** Update File: a\\b', '@@', '-1', '+2'),
    after: { 'a\\b': '2\n' },
  },
  {
    title: 'a hidden file',
    before: { '.env': 'A=1\n' },
    patch: patch('*** Update File: .env', '@@', '-A=1', '+A=2'),
    after: { '.env': 'A=2\n' },
  },
  {
    title: 'a name like an option',
    before: { '-rf': '1\n' },
    patch: patch('*** Delete File: -rf'),
    after: {},
  },
  {
    title: 'a deep path',
    before: {},
    patch: patch(`*** Add File: ${deep}/f`, '+x'),
    after: { [`${deep}/f`]: 'x\n' },
  },
  {
    title: 'files in a linked directory are files of the directory',
    before: { 'real/f': '1\n', l: { link: 'real' } },
    patch: patch('*** Update File: l/f', '@@', '-1', '+2', '*** Add File: l/new/g', '+3'),
    after: { 'real/f': '2\n', 'real/new/g': '3\n', l: { link: 'real' } },
  },
  {
    title: 'a linked file is not updated through its link',
    before: { f: '1\n', l: { link: 'f' } },
    patch: patch('*** Update File: l', '@@', '-1', '+2'),
    error: /Failed to update l: it is a symbolic link; name the file that it leads to/,
  },
  {
    title: 'a path that names a directory is refused',
    before: {},
    patch: patch('*** Add File: d/', '+x'),
    error: /invalid hunk at line 2, 'd\/' names a directory, not a file/,
  },
  {
    title: 'an empty path is refused',
    before: {},
    patch: patch('*** Add File:  ', '+x'),
    error: /invalid hunk at line 2, the path is empty/,
  },
  {
    title: 'a path with a NUL byte is refused',
    before: {},
    patch: patch('*** Add File: a\0b', '+x'),
    error: /invalid hunk at line 2, the path holds a NUL byte/,
  },
  {
    title: 'a path of a megabyte is refused',
    before: {},
    patch: patch(`*** Add File: ${'a/'.repeat(500_000)}b`, '+x'),
    error: /invalid hunk at line 2, the path is longer than 4096 characters/,
  },
  {
    title: 'a path through very many directories is refused',
    before: {},
    patch: patch(`*** Add File: ${'a/'.repeat(65)}b`, '+x'),
    error: /leads through more than 64 directories/,
  },
  {
    title: 'a path through many directories is taken',
    before: {},
    patch: patch(`*** Add File: ${'a/'.repeat(64)}b`, '+x'),
    after: { [`${'a/'.repeat(64)}b`]: 'x\n' },
  },
  {
    title: 'a name that the system does not take is told',
    before: {},
    patch: patch(`*** Add File: ${'x'.repeat(300)}`, '+x'),
    error: /File name too long/,
  },
  {
    title: 'the root is not a file',
    before: {},
    patch: patch('*** Delete File: ../../../../../../../../..'),
    error: /directory/,
  },
]
