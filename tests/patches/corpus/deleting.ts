import { bytes, type PatchCase, patch } from '../patch-case.ts'

export const deleting: readonly PatchCase[] = [
  {
    title: 'a file is deleted, its directory stays',
    before: { 'd/f': 'x\n', g: 'y\n' },
    patch: patch('*** Delete File: d/f'),
    after: { d: 'dir/', g: 'y\n' },
  },
  {
    title: 'a file that is not text is deleted',
    before: { f: bytes(0, 0xff, 'x', 0xfe) },
    patch: patch('*** Delete File: f'),
    after: {},
  },
  { title: 'an empty file is deleted', before: { f: '' }, patch: patch('*** Delete File: f'), after: {} },
  {
    title: 'several files are deleted',
    before: { a: '1\n', b: '2\n', c: '3\n' },
    patch: patch('*** Delete File: a', '*** Delete File: c'),
    after: { b: '2\n' },
  },
  {
    title: 'what is not there is not deleted, and nothing else is',
    before: { a: '1\n' },
    patch: patch('*** Delete File: a', '*** Delete File: b'),
    error: /Failed to delete b: there is no such file/,
  },
  {
    title: 'a directory is not deleted',
    before: { 'd/f': 'x\n' },
    patch: patch('*** Delete File: d'),
    error: /Failed to delete d: it is a directory/,
  },
  {
    title: 'a link is not deleted',
    before: { f: 'x\n', l: { link: 'f' } },
    patch: patch('*** Delete File: l'),
    error: /Failed to delete l: it is a symbolic link/,
  },
  {
    title: 'lines after a deletion are refused',
    before: { f: 'x\n' },
    patch: patch('*** Delete File: f', '-x'),
    error: /invalid hunk at line 3, '-x' is not a valid hunk header/,
  },
  {
    title: 'the directory that is worked in is not deleted',
    before: { f: 'x\n' },
    patch: patch('*** Delete File: .'),
    error: /Failed to delete \.: it is a directory/,
  },
  {
    title: 'a deleted file is replaced by a new one of that name',
    before: { f: { content: 'old\n', mode: 0o700 } },
    patch: patch('*** Delete File: f', '*** Add File: f', '+new'),
    after: { f: { content: 'new\n', mode: 0o700 } },
  },
  {
    title: 'a file is not deleted twice',
    before: { f: 'x\n' },
    patch: patch('*** Delete File: f', '*** Delete File: f'),
    error: /multiple operations target f \(line 3 of the patch\): it is deleted before/,
  },
  {
    title: 'a file that was deleted is not updated',
    before: { f: 'x\n' },
    patch: patch('*** Delete File: f', '*** Update File: f', '@@', '-x', '+y'),
    error: /multiple operations target f .*: it is deleted before/,
  },
  {
    title: 'a file is not updated and then deleted',
    before: { f: 'x\n' },
    patch: patch('*** Update File: f', '@@', '-x', '+y', '*** Delete File: f'),
    error: /multiple operations target f .*: it is updated before/,
  },
  {
    title: 'a file does not become a directory in one go',
    before: { f: 'x\n' },
    patch: patch('*** Delete File: f', '*** Add File: f/g', '+y'),
    error: /Not a directory|use two patches/,
  },
]
