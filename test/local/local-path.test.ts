import { homedir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { resolveLocalDirs } from '../../src/local/dirs.js'
import { resolveLocalPath } from '../../src/local/local-path.js'
import { readAbsolutePaths } from '../../src/local/setting-readers.js'

test('a path that begins with ~ or a variable is resolved, other paths stay as they are', () => {
  const env = { NOTES: '/srv/notes' }
  expect(resolveLocalPath('~', env)).toBe(join(homedir()))
  expect(resolveLocalPath('~/a b', env)).toBe(join(homedir(), 'a b'))
  expect(resolveLocalPath('$NOTES/x', env)).toBe('/srv/notes/x')
  expect(resolveLocalPath('$'.concat('{NOTES}'), env)).toBe('/srv/notes')
  for (const path of ['~$report.docx', '~ada/x', 'a/~/b', '$5.txt', 'a$NOTES', '$NOTES-1', './~', ''])
    expect(resolveLocalPath(path, env)).toBe(path)
})

test('a path that begins with a variable that is not set is an error with its name', () => {
  expect(() => resolveLocalPath('$NOWHERE/x', {})).toThrow('environment variable NOWHERE, which is not set')
})

test('folders of the user and paths of settings may begin with ~ or a variable', () => {
  const sources = { env: { KS_DATA_DIR: '$STORE/data', STORE: '/srv' }, platform: 'linux' as const, home: '/home/ada' }
  expect(resolveLocalDirs(sources).data).toBe('/srv/data')
  expect(readAbsolutePaths(['~/converters'], 'paths')).toEqual([join(homedir(), 'converters')])
  expect(() => readAbsolutePaths(['converters'], 'paths')).toThrow('absolute paths')
})
