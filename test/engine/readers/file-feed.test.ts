import type { ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { type FileChunkReply, FileFeed } from '../../../src/engine/readers/file-feed.js'
import { until } from '../../helpers/until.js'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ks-file-feed-')))
afterAll(() => removeFolder(folder))

/** The replies of a feed of one file to the offsets that a child requests. */
async function answersTo(offsets: readonly number[], path: string, root: string): Promise<FileChunkReply[]> {
  const answers: FileChunkReply[] = []
  const child = { connected: true, send: (answer: FileChunkReply) => answers.push(answer) }
  const feed = new FileFeed(child as unknown as ChildProcess, [{ path, root }])
  for (const offset of offsets) feed.reply({ kind: 'file', index: 0, offset })
  await until(() => answers.length === offsets.length)
  feed.close()
  return answers
}

it('the file feed sends no byte of a file outside of its root, whichever offsets the child requests', async () => {
  const root = join(folder, 'root')
  const outside = join(folder, 'outside.txt')
  mkdirSync(root)
  writeFileSync(outside, 'secret')
  const answers = await answersTo([0, 0, -1, -1, -1024, 0.5], outside, root)
  expect(answers.map(({ kind }) => kind)).toEqual(Array(6).fill('no-bytes'))
})

it('the file feed sends no byte for an offset that is no natural number', async () => {
  const path = join(folder, 'inside.txt')
  writeFileSync(path, 'text')
  const answers = await answersTo([-1, Number.NaN, 0], path, folder)
  expect(answers.map(({ kind }) => kind)).toEqual(['no-bytes', 'no-bytes', 'bytes'])
})
