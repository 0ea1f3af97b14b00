import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { findSilentDisks, findSilentMounts } from '../../src/local/silent-disks.js'

const table = (name: string) => readFileSync(new URL(`../fixtures/mountinfo/${name}.txt`, import.meta.url), 'utf8')

describe('disks that report no changes of other machines', () => {
  test.each([
    ['server', '/home/ada/notes', []],
    ['server', '/srv/team', [{ path: '', kind: 'NFS' }]],
    ['server', '/srv/team/minutes/2026', [{ path: '', kind: 'NFS' }]],
    ['server', '/srv/teams', []],
    ['server', '/mnt/office share', [{ path: '', kind: 'SMB' }]],
    ['server', '/mnt/remote', [{ path: '', kind: 'FUSE (sshfs)' }]],
    ['server', '/mnt/usb', []],
    // The file system that was mounted last is visible.
    ['server', '/mnt/twice', []],
    [
      'server',
      '/srv',
      [
        { path: 'team', kind: 'NFS' },
        { path: 'cloud/bucket', kind: 'FUSE (rclone)' },
      ],
    ],
    ['wsl', '/mnt/c/Papers/2026', [{ path: '', kind: 'WSL drive' }]],
    ['wsl', '/home/ada', []],
    ['wsl', '/usr/lib/wsl/drivers', [{ path: '', kind: '9p' }]],
    ['container', '/app', [{ path: '', kind: 'container mount' }]],
    ['container', '/data', [{ path: '', kind: 'virtiofs' }]],
    ['container', '/work', [{ path: '', kind: 'container mount' }]],
    ['container', '/etc', []],
    // A bind mount of a local disk reports all changes.
    ['container', '/cache', []],
  ])('match the mount table of a %s below %s', (name, folder, expected) => {
    expect(findSilentMounts(table(name), folder)).toEqual(expected)
  })

  test('do not include temporary folders, and a missing folder causes no error', () => {
    expect(findSilentDisks('/proc/self/no-such-folder')).toEqual([])
  })
})
