import { type PatchCase, patch, update } from '../patch-case.ts'

export const several: readonly PatchCase[] = [
  {
    title: 'files are added, updated, moved and deleted at once',
    before: { u: '1\n', d: '2\n', m: '3\n', other: '4\n' },
    patch: patch(
      '*** Add File: a',
      '+0',
      '*** Update File: u',
      '@@',
      '-1',
      '+one',
      '*** Delete File: d',
      '*** Update File: m',
      '*** Move to: n',
      '@@',
      '-3',
      '+three',
    ),
    after: { a: '0\n', u: 'one\n', n: 'three\n', other: '4\n' },
  },
  {
    title: 'two sections about one file add up',
    before: { f: 'a\nb\n' },
    patch: patch('*** Update File: f', '@@', '-a', '+A', '*** Update File: f', '@@', '-b', '+B'),
    after: { f: 'A\nB\n' },
  },
  {
    title: 'the second section may go back to the top',
    before: { f: 'a\nb\n' },
    patch: patch('*** Update File: f', '@@', '-b', '+B', '*** Update File: f', '@@', '-a', '+A'),
    after: { f: 'A\nB\n' },
  },
  {
    title: 'the second section finds what the first one made',
    before: { f: 'a\n' },
    patch: patch('*** Update File: f', '@@', '-a', '+b', '*** Update File: f', '@@', '-b', '+c'),
    after: { f: 'c\n' },
  },
  {
    title: 'the second section does not find what the first one removed',
    before: { f: 'a\n' },
    patch: patch('*** Update File: f', '@@', '-a', '+b', '*** Update File: f', '@@', '-a', '+c'),
    error: /Failed to find expected lines in f \(hunk 1, line 7 of the patch\)/,
  },
  {
    title: 'a file is added and then updated',
    before: {},
    patch: patch('*** Add File: f', '+a', '+b', '*** Update File: f', '@@', '-b', '+c'),
    after: { f: 'a\nc\n' },
  },
  {
    title: 'one file under two spellings is one file',
    before: { 'd/f': 'a\nb\n' },
    patch: patch('*** Update File: d/f', '@@', '-a', '+A', '*** Update File: ./d/../d//f', '@@', '-b', '+B'),
    after: { 'd/f': 'A\nB\n' },
  },
  {
    title: 'one file behind a linked directory is one file',
    before: { 'd/f': 'a\nb\n', l: { link: 'd' } },
    patch: patch('*** Update File: d/f', '@@', '-a', '+A', '*** Update File: l/f', '@@', '-b', '+B'),
    after: { 'd/f': 'A\nB\n', l: { link: 'd' } },
  },
  {
    title: 'a file is not added twice',
    before: {},
    patch: patch('*** Add File: f', '+a', '*** Add File: f', '+b'),
    error: /multiple operations target f \(line 4 of the patch\): it is added before/,
  },
  {
    title: 'a file is not updated and then added',
    before: { f: 'a\n' },
    patch: patch('*** Update File: f', '@@', '-a', '+b', '*** Add File: f', '+c'),
    error: /multiple operations target f .*: it is updated before/,
  },
  {
    title: 'what fails in one file keeps all others as they are',
    before: { a: '1\n', b: '2\n', c: '3\n' },
    patch: patch(
      '*** Update File: a',
      '@@',
      '-1',
      '+one',
      '*** Delete File: b',
      '*** Update File: c',
      '@@',
      '-4',
      '+four',
    ),
    error: /Failed to find expected lines in c/,
  },
  {
    title: 'everything that is wrong is told at once',
    before: { a: '1\n' },
    patch: patch('*** Update File: a', '@@', '-2', '+3', '*** Delete File: b', '*** Update File: c', '@@', '+x'),
    error: /expected lines in a[\s\S]*Failed to delete b[\s\S]*Failed to update c/,
  },
  {
    title: 'many hunks in one file',
    before: { f: Array.from({ length: 300 }, (_, index) => `line ${index}\n`).join('') },
    patch: update(
      ...Array.from({ length: 100 }, (_, index) => ['@@', `-line ${index * 3}`, `+LINE ${index * 3}`]).flat(),
    ),
    after: {
      f: Array.from({ length: 300 }, (_, index) => `${index % 3 === 0 ? 'LINE' : 'line'} ${index}\n`).join(''),
    },
  },
  {
    title: 'many files',
    before: Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`d${index % 7}/f${index}`, `${index}\n`])),
    patch: patch(
      ...Array.from({ length: 60 }, (_, index) => [
        `*** Update File: d${index % 7}/f${index}`,
        '@@',
        `-${index}`,
        '+x',
      ]).flat(),
    ),
    after: Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`d${index % 7}/f${index}`, 'x\n'])),
  },
]
