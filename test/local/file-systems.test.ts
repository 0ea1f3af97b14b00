import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { silentDisks, silentMounts } from '../../src/local/file-systems.js'

const table = (name: string) => readFileSync(new URL(`../fixtures/mountinfo/${name}.txt`, import.meta.url), 'utf8')

describe('disks that tell nobody of changes made elsewhere', () => {
  test.each([
    ['server', '/home/ada/notes', []],
    ['server', '/srv/team', [{ path: '', kind: 'NFS' }]],
    ['server', '/srv/team/minutes/2026', [{ path: '', kind: 'NFS' }]],
    ['server', '/srv/teams', []],
    ['server', '/mnt/office share', [{ path: '', kind: 'SMB' }]],
    ['server', '/mnt/remote', [{ path: '', kind: 'FUSE (sshfs)' }]],
    ['server', '/mnt/usb', []],
    // what was mounted over another disk is what one sees
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
    // a bind mount of a disk of the same kernel tells of everything
    ['container', '/cache', []],
  ])('in the table of a %s, %s', (name, folder, expected) => {
    expect(silentMounts(table(name), folder)).toEqual(expected)
  })

  test('the folders that tests are made in tell of changes, and one that is not there does no harm', () => {
    expect(silentDisks('/proc/self/no-such-folder')).toEqual([])
  })
})
