// Made by make generate from internal/plain/table.go. Do not edit.

/** hidden are the characters that people are not shown, as the inside of a class with the flag u. */
export const hidden = [
  String.raw`\u{0}-\u{8}\u{b}-\u{1f}\u{7f}-\u{9f}\u{ad}\u{34f}\u{600}-\u{605}`,
  String.raw`\u{61c}\u{6dd}\u{70f}\u{890}-\u{891}\u{8e2}\u{115f}-\u{1160}`,
  String.raw`\u{17b4}-\u{17b5}\u{180b}-\u{180f}\u{200b}\u{200e}-\u{200f}\u{2028}-\u{202e}\u{2060}-\u{206f}`,
  String.raw`\u{3164}\u{d800}-\u{f8ff}\u{fdd0}-\u{fdef}\u{fe00}-\u{fe0d}\u{feff}\u{ffa0}`,
  String.raw`\u{fff0}-\u{fffb}\u{fffe}-\u{ffff}\u{110bd}\u{110cd}\u{13430}-\u{1343f}\u{1bca0}-\u{1bca3}`,
  String.raw`\u{1d173}-\u{1d17a}\u{1fffe}-\u{1ffff}\u{2fffe}-\u{2ffff}\u{3fffe}-\u{3ffff}\u{4fffe}-\u{4ffff}\u{5fffe}-\u{5ffff}`,
  String.raw`\u{6fffe}-\u{6ffff}\u{7fffe}-\u{7ffff}\u{8fffe}-\u{8ffff}\u{9fffe}-\u{9ffff}\u{afffe}-\u{affff}\u{bfffe}-\u{bffff}`,
  String.raw`\u{cfffe}-\u{cffff}\u{dfffe}-\u{e0fff}\u{efffe}-\u{10ffff}`,
].join('')

/** shaping are those that stay behind writing which they shape. */
export const shaping = [
  String.raw`\u{200c}-\u{200d}\u{fe0e}-\u{fe0f}`,
].join('')
