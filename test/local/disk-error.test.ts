import { expect, it } from 'vitest'
import { toDiskError } from '../../src/local/disk-error.js'

it.each([
  [
    'Failed to acquire Lockfile: IoError(Os { code: 30, kind: ReadOnlyFilesystem, message: "Read-only file system" })',
    'read-only',
  ],
  ['An IO error occurred: Read-only file system (os error 30)', 'read-only'],
  ['No space left on device (os error 28)', 'full'],
])('a disk error in the text of a native library is reported like its error number: %s', (said, told) => {
  expect(toDiskError(new Error(said))?.message).toContain(told)
})

it('other texts of a native library are not reported as disk errors', () => {
  expect(toDiskError(new Error('os error 300'))).toBeUndefined()
})
