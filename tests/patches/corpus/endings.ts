import { bytes, type PatchCase, patch, update } from '../patch-case.ts'

const BOM = '\ufeff'

export const endings: readonly PatchCase[] = [
  {
    title: 'CRLF stays CRLF, also in new lines',
    before: { f: 'a\r\nb\r\nc\r\n' },
    patch: update('@@', ' a', '-b', '+B', '+BB', ' c'),
    after: { f: 'a\r\nB\r\nBB\r\nc\r\n' },
  },
  {
    title: 'a patch with CRLF fits a file with LF',
    before: { f: 'a\nb\n' },
    patch: update('@@', ' a', '-b', '+c').replaceAll('\n', '\r\n'),
    after: { f: 'a\nc\n' },
  },
  {
    title: 'a patch with CRLF fits a file with CRLF',
    before: { f: 'a\r\nb\r\n' },
    patch: update('@@', ' a', '-b', '+c').replaceAll('\n', '\r\n'),
    after: { f: 'a\r\nc\r\n' },
  },
  {
    title: 'a patch with CRLF adds a file with LF',
    before: {},
    patch: patch('*** Add File: f', '+a', '+b').replaceAll('\n', '\r\n'),
    after: { f: 'a\nb\n' },
  },
  {
    title: 'each line keeps its own ending, new ones have that of the first',
    before: { f: 'a\nb\r\nc\n' },
    patch: update('@@', ' b', '+x', ' c'),
    after: { f: 'a\nb\r\nx\nc\n' },
  },
  {
    title: 'new lines have CRLF if the first line does',
    before: { f: 'a\r\nb\nc\n' },
    patch: update('@@', '-c', '+x', '+y'),
    after: { f: 'a\r\nb\nx\r\ny\r\n' },
  },
  {
    title: 'a last line without an end stays without one',
    before: { f: 'a\nb\nc' },
    patch: update('@@', '-a', '+A'),
    after: { f: 'A\nb\nc' },
  },
  {
    title: 'a last line without an end stays without one, also as context',
    before: { f: 'a\nb\nc' },
    patch: update('@@', '-b', '+B', ' c'),
    after: { f: 'a\nB\nc' },
  },
  {
    title: 'a last line that is replaced has an end',
    before: { f: 'a\nb' },
    patch: update('@@', '-b', '+c'),
    after: { f: 'a\nc\n' },
  },
  {
    title: 'a last line without an end gets one if something comes after it',
    before: { f: 'a\nb' },
    patch: update('@@', ' b', '+c'),
    after: { f: 'a\nb\nc\n' },
  },
  {
    title: 'what is added to the end starts on a line of its own',
    before: { f: 'a\r\nb' },
    patch: update('@@', '+c'),
    after: { f: 'a\r\nb\r\nc\r\n' },
  },
  {
    title: 'a file of one line without an end',
    before: { f: 'a' },
    patch: update('@@', ' a', '+b'),
    after: { f: 'a\nb\n' },
  },
  {
    title: 'the last line goes, and the one before it keeps its end',
    before: { f: 'a\nb' },
    patch: update('@@', '-b'),
    after: { f: 'a\n' },
  },
  {
    title: 'End of File fits a last line without an end',
    before: { f: 'x\na\nx' },
    patch: update('@@', '+y', ' x', '*** End of File'),
    after: { f: 'x\na\ny\nx' },
  },
  {
    title: 'a CR that ends nothing is a character',
    before: { f: 'a\rb\nc\r' },
    patch: update('@@', '-a\rb', '+a\rB'),
    after: { f: 'a\rB\nc\r' },
  },
  {
    title: 'empty lines with CRLF are empty lines',
    before: { f: 'a\r\n\r\nb\r\n' },
    patch: update('@@', ' a', '', '-b', '+c'),
    after: { f: 'a\r\n\r\nc\r\n' },
  },
  {
    title: 'a byte order mark stays',
    before: { f: `${BOM}a\nb\n` },
    patch: update('@@', '-a', '+A'),
    after: { f: `${BOM}A\nb\n` },
  },
  {
    title: 'a byte order mark stays once if the patch has it, too',
    before: { f: `${BOM}a\nb\n` },
    patch: update('@@', `-${BOM}a`, `+${BOM}A`),
    after: { f: `${BOM}A\nb\n` },
  },
  {
    title: 'a byte order mark stays when the first line goes',
    before: { f: `${BOM}a\r\nb\r\n` },
    patch: update('@@', '-a'),
    after: { f: `${BOM}b\r\n` },
  },
  {
    title: 'lines are added to a file of nothing but a byte order mark',
    before: { f: BOM },
    patch: update('@@', '+a'),
    after: { f: `${BOM}a\n` },
  },
  {
    title: 'bytes that are not UTF-8 stay as they are',
    before: { f: bytes('a', 0xff, 0xfe, '\nb\n', 0xc3, '\n', 0x80, 0x80) },
    patch: update('@@', '-b', '+ö'),
    after: { f: bytes('a', 0xff, 0xfe, '\nö\n', 0xc3, '\n', 0x80, 0x80) },
  },
  {
    title: 'Latin-1 stays Latin-1 in the lines that stay',
    before: { f: bytes('gr', 0xfc, 0xdf, 'e\r\nx\r\n') },
    patch: update('@@', '-x', '+y'),
    after: { f: bytes('gr', 0xfc, 0xdf, 'e\r\ny\r\n') },
  },
  {
    title: 'NUL bytes stay where they are',
    before: { f: bytes('a', 0, '\nb\n', 0, 0, '\n') },
    patch: update('@@', ' a\0', '-b', '+c'),
    after: { f: bytes('a', 0, '\nc\n', 0, 0, '\n') },
  },
  {
    title: 'a line with broken characters can be removed by what one sees of it',
    before: { f: bytes('a\n', 'x', 0xff, 'y\nb\n') },
    patch: update('@@', '-x\ufffdy', '+xy'),
    after: { f: 'a\nxy\nb\n' },
  },
  {
    title: 'UTF-16 is not destroyed',
    before: { f: bytes(0xff, 0xfe, 'a', 0, '\n', 0) },
    patch: update('@@', '+b'),
    error: /f is UTF-16, which a patch would destroy/,
  },
  {
    title: 'UTF-16 the other way round is not destroyed',
    before: { f: bytes(0xfe, 0xff, 0, 'a') },
    patch: update('@@', '+b'),
    error: /f is UTF-16/,
  },
  {
    title: 'characters outside of the first plane are found',
    before: { f: '😀\nx\n' },
    patch: update('@@', ' 😀', '-x', '+🎉'),
    after: { f: '😀\n🎉\n' },
  },
  {
    title: 'half a character is refused',
    before: {},
    patch: patch('*** Add File: f', '+\ud83d'),
    error: /half a character/,
  },
]
