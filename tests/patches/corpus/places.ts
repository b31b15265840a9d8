import { type PatchCase, update } from '../patch-case.ts'

const CLASSES = 'class A\n  def f\n    1\nclass B\n  def f\n    1\n'

export const places: readonly PatchCase[] = [
  {
    title: 'lines are searched after the line that is named',
    before: { f: CLASSES },
    patch: update('@@ class B', '   def f', '-    1', '+    2'),
    after: { f: 'class A\n  def f\n    1\nclass B\n  def f\n    2\n' },
  },
  {
    title: 'lines that are only added go after the line that is named',
    before: { f: 'a\nb\nc\n' },
    patch: update('@@ a', '+x', '+y'),
    after: { f: 'a\nx\ny\nb\nc\n' },
  },
  {
    title: 'lines that are only added go to the end if no line is named',
    before: { f: 'a\nb\n' },
    patch: update('@@', '+x'),
    after: { f: 'a\nb\nx\n' },
  },
  {
    title: 'lines that are only added go behind an empty last line',
    before: { f: 'a\n\n' },
    patch: update('@@', '+x'),
    after: { f: 'a\n\nx\n' },
  },
  {
    title: 'lines are added to an empty file',
    before: { f: '' },
    patch: update('@@', '+x'),
    after: { f: 'x\n' },
  },
  {
    title: 'lines go after the last line if that is named',
    before: { f: 'a\nb\n' },
    patch: update('@@ b', '+x'),
    after: { f: 'a\nb\nx\n' },
  },
  {
    title: 'lines of several hunks are added where each belongs',
    before: { f: 'a\nb\nc\n' },
    patch: update('@@ a', '+1', '@@ b', '+2', '@@ c', '+3'),
    after: { f: 'a\n1\nb\n2\nc\n3\n' },
  },
  {
    title: 'lines that are added twice at one place keep their order',
    before: { f: 'a\nb\n' },
    patch: update('@@ a', '+1', '@@', '+2', '@@', '+3'),
    after: { f: 'a\n1\nb\n2\n3\n' },
  },
  {
    title: 'something is added at the end, and then something changed above',
    before: { f: 'a\nb\nc\n' },
    patch: update('@@', '+end', '@@', '-b', '+B'),
    after: { f: 'a\nB\nc\nend\n' },
  },
  {
    title: 'an addition is followed by a change of the very next line',
    before: { f: 'a\nb\nc\n' },
    patch: update('@@ a', '+x', '@@', '-b', '+B'),
    after: { f: 'a\nx\nB\nc\n' },
  },
  {
    title: 'several named lines lead to the place one after the other',
    before: { f: CLASSES },
    patch: update('@@ class B', '@@   def f', '-    1', '+    2'),
    after: { f: 'class A\n  def f\n    1\nclass B\n  def f\n    2\n' },
  },
  {
    title: 'a line is added after several named lines',
    before: { f: CLASSES },
    patch: update('@@ class B', '@@   def f', '+    0'),
    after: { f: 'class A\n  def f\n    1\nclass B\n  def f\n    0\n    1\n' },
  },
  {
    title: 'the named line may be repeated as the first line',
    before: { f: CLASSES },
    patch: update('@@ class B', ' class B', '   def f', '-    1', '+    2'),
    after: { f: 'class A\n  def f\n    1\nclass B\n  def f\n    2\n' },
  },
  {
    title: 'the named line may differ in spaces',
    before: { f: '\tclass B {  \n1\n' },
    patch: update('@@ class B {', '-1', '+2'),
    after: { f: '\tclass B {  \n2\n' },
  },
  {
    title: 'an empty line after additions does not move them',
    before: { f: 'a\nb\n\nc\n' },
    patch: update('@@ a', '+x', ''),
    after: { f: 'a\nx\nb\n\nc\n' },
  },
  {
    title: 'an empty line after additions at the end does not move them',
    before: { f: 'a\n\nb\n' },
    patch: update('@@', '+x', '', '*** Add File: g', '+1'),
    after: { f: 'a\n\nb\nx\n', g: '1\n' },
  },
  {
    title: 'End of File takes the last of equal lines',
    before: { f: 'x\na\nx\n' },
    patch: update('@@', '-x', '+y', '*** End of File'),
    after: { f: 'x\na\ny\n' },
  },
  {
    title: 'End of File takes lines that differ in spaces',
    before: { f: 'x\na\n  x  \n' },
    patch: update('@@', '-x', '+y', '*** End of File'),
    after: { f: 'x\na\ny\n' },
  },
  {
    title: 'End of File adds to the end, whatever line is named',
    before: { f: 'a\nb\n' },
    patch: update('@@ a', '+x', '*** End of File'),
    after: { f: 'a\nb\nx\n' },
  },
  {
    title: 'End of File with an empty line before it',
    before: { f: 'a\nb\n' },
    patch: update('@@', ' b', '+x', '', '*** End of File'),
    after: { f: 'a\nb\nx\n' },
  },
  {
    title: 'a hunk follows after End of File only if it is further down, which it cannot be',
    before: { f: 'a\nb\n' },
    patch: update('@@', '-b', '+B', '*** End of File', '', '@@', '-a', '+A'),
    error: /They are at line 1, above/,
  },
  {
    title: 'lines that are not the last ones do not fit End of File',
    before: { f: 'a\nb\n' },
    patch: update('@@', '-a', '+A', '*** End of File'),
    error: /Failed to find expected lines in f \(hunk 1, line 3 of the patch\) at the end of the file:\na/,
  },
  {
    title: 'more lines than the file has do not fit End of File',
    before: { f: 'a\n' },
    patch: update('@@', ' x', '-a', '+A', '*** End of File'),
    error: /Failed to find expected lines/,
  },
  {
    title: 'a named line that is nowhere is told',
    before: { f: 'class Alpha\n' },
    patch: update('@@ class Alhpa', '+x'),
    error:
      /Failed to find context 'class Alhpa' in f \(hunk 1, line 3 of the patch\)\nThe nearest lines there are:\n {5}1 \| class Alpha/,
  },
  {
    title: 'a named line is not searched above what came before',
    before: { f: 'a\nb\n' },
    patch: update('@@', '-b', '+B', '@@ a', '+x'),
    error: /Failed to find context 'a' in f \(hunk 2.*\n.*They are at line 1/,
  },
  {
    title: 'text after End of File needs another @@',
    before: { f: 'a\n' },
    patch: update('@@', '-a', '+b', '*** End of File', ' c'),
    error: /line 7, Expected update hunk to start with a @@ context marker, got: ' c'/,
  },
]
