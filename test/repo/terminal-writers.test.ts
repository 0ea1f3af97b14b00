import { expect, it } from 'vitest'
import { filesBelow, readFile } from './tree.js'

/** The one way of `ks` and `kchat` to stdout and stderr, which makes text safe for terminals. */
const WRITER = 'src/cli/terminal-writer.ts'
/** Files of completion: the shell reads what they write, and they load no stream. */
const FOR_SHELLS = ['src/cli/complete.ts']

const WRITES =
  /\b(?:process|stdout|stderr)\.write\(|\bstd(?:out|err)\.write\(|\bconsole\.(?:log|info|warn|error|debug|table|dir)\(|\bwriteSync\((?:1|2)\b|_rawDebug/

const programs = ['src/cli', 'src/commands', 'src/kchat', 'src/client', 'src/mcp'].flatMap(filesBelow)

it('A73: writes to stdout and stderr by terminal-writer.ts alone', () => {
  const writers = programs.filter((file) => /\.tsx?$/.test(file) && WRITES.test(readFile(file)))
  expect(writers).toEqual(FOR_SHELLS)
})

it('guards the terminal before ks and kchat do anything else', () => {
  for (const file of ['src/cli/main.ts', 'src/cli/start.ts', 'src/kchat/main.ts'])
    expect([file, /\): Promise<void> \{\n {2}guardOutput\('\w+'\)\n/.test(readFile(file))]).toEqual([file, true])
})

it('writes sequences for terminals in few files, which draw views', () => {
  const drawing = programs.filter((file) => /writeControls\(|frameStream\(|lineStream\(/.test(readFile(file)))
  expect(drawing.sort()).toEqual([
    'src/cli/progress.ts',
    'src/cli/prompt.ts',
    WRITER,
    'src/cli/top/screen.ts',
    'src/commands/spaces/status.ts',
    'src/kchat/chat/answers.ts',
    'src/kchat/chat/frame.ts',
    'src/kchat/chat/view.ts',
  ])
})
