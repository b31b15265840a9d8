import { type PatchCase, patch } from '../patch-case.ts'

export const adding: readonly PatchCase[] = [
  {
    title: 'a file is added',
    before: {},
    patch: patch('*** Add File: new.txt', '+hello', '+world'),
    after: { 'new.txt': 'hello\nworld\n' },
  },
  {
    title: 'a file is added with the directories above it',
    before: {},
    patch: patch('*** Add File: a/b/c/new.txt', '+x'),
    after: { 'a/b/c/new.txt': 'x\n' },
  },
  {
    title: 'two files are added to one new directory',
    before: {},
    patch: patch('*** Add File: d/one', '+1', '*** Add File: d/two', '+2'),
    after: { 'd/one': '1\n', 'd/two': '2\n' },
  },
  {
    title: 'new directories in new directories are made at once',
    before: {},
    patch: patch('*** Add File: d/one', '+1', '*** Add File: d/e/two', '+2', '*** Add File: d/e/f/three', '+3'),
    after: { 'd/one': '1\n', 'd/e/two': '2\n', 'd/e/f/three': '3\n' },
  },
  {
    title: 'a file without lines is empty',
    before: {},
    patch: patch('*** Add File: empty'),
    after: { empty: '' },
  },
  {
    title: 'an empty file and another one are added',
    before: {},
    patch: patch('*** Add File: empty', '*** Add File: other', '+x'),
    after: { empty: '', other: 'x\n' },
  },
  {
    title: 'empty lines are lines',
    before: {},
    patch: patch('*** Add File: f', '+', '+a', '+', '+'),
    after: { f: '\na\n\n\n' },
  },
  {
    title: 'a file that is there is overwritten, and keeps its mode',
    before: { f: { content: 'old\n', mode: 0o751 } },
    patch: patch('*** Add File: f', '+new'),
    after: { f: { content: 'new\n', mode: 0o751 } },
  },
  {
    title: 'what looks like a marker can be in a new file',
    before: {},
    patch: patch('*** Add File: f', '+*** End Patch', '+*** Update File: x', '+@@', '++', '+-'),
    after: { f: '*** End Patch\n*** Update File: x\n@@\n+\n-\n' },
  },
  {
    title: 'spaces at the ends of lines are kept',
    before: {},
    patch: patch('*** Add File: f', '+  a  ', '+\t'),
    after: { f: '  a  \n\t\n' },
  },
  {
    title: 'text of any language is added',
    before: {},
    patch: patch('*** Add File: grüße/日本.txt', '+wörld 😀 שלום'),
    after: { 'grüße/日本.txt': 'wörld 😀 שלום\n' },
  },
  {
    title: 'a NUL byte is a character like any other',
    before: {},
    patch: patch('*** Add File: f', '+a\0b'),
    after: { f: 'a\0b\n' },
  },
  {
    title: 'a name may hold spaces and signs',
    before: {},
    patch: patch('*** Add File: a b/%20#?.txt', '+x'),
    after: { 'a b/%20#?.txt': 'x\n' },
  },
  {
    title: 'nothing is added where a directory is',
    before: { d: 'dir/' },
    patch: patch('*** Add File: d', '+x'),
    error: /Failed to add d: it is a directory/,
  },
  {
    title: 'nothing is added below a file',
    before: { f: 'x\n' },
    patch: patch('*** Add File: f/g', '+x'),
    error: /Not a directory/,
  },
  {
    title: 'nothing is added through a link that is a file',
    before: { real: 'x\n', l: { link: 'real' } },
    patch: patch('*** Add File: l', '+y'),
    error: /Failed to add l: it is a symbolic link; name the file that it leads to/,
  },
  {
    title: 'a link that leads nowhere is not written through',
    before: { l: { link: 'nowhere' } },
    patch: patch('*** Add File: l', '+y'),
    error: /nothing has changed: File exists/,
  },
  {
    title: 'every line of a new file has a plus',
    before: {},
    patch: patch('*** Add File: f', '+a', 'b'),
    error: /invalid hunk at line 4, 'b' is not a valid hunk header/,
  },
  {
    title: 'a new file is no directory of another one',
    before: {},
    patch: patch('*** Add File: a', '+x', '*** Add File: a/b', '+y'),
    error: /a cannot be a file and the directory of a\/b/,
  },
  {
    title: 'one file that fails keeps all others from being added, and their directories',
    before: { d: 'dir/' },
    patch: patch('*** Add File: x/y/z', '+1', '*** Add File: d', '+2'),
    error: /it is a directory/,
  },
]
