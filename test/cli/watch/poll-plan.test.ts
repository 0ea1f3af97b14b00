import { describe, expect, test } from 'vitest'
import { computePollPlan, type PollFacts } from '../../../src/cli/watch/poll-plan.js'

const NFS = [{ path: '', kind: 'NFS' }]
const plan = (facts: Partial<PollFacts>) =>
  computePollPlan({ requestedMs: undefined, disks: [], pathCount: 0, scanMs: 1, ...facts })

describe('the poll plan of a folder', () => {
  test('does not exist if the file system reports changes and polling was not requested', () => {
    expect(plan({ pathCount: 100_000 })).toBeUndefined()
  })

  test('polls every 2 s on a disk without change events, with the reason', () => {
    expect(plan({ disks: NFS, pathCount: 300 })).toEqual({
      roots: [''],
      intervalMs: 2000,
      isPolledByPath: true,
      scanIntervalMs: 60_000,
      description: 'polled every 2 s, since NFS reports no changes',
    })
  })

  test('covers only subfolders without change events, or the complete folder if polling was requested', () => {
    const disks = [{ path: 'share', kind: 'SMB' }]
    expect(plan({ disks })).toMatchObject({
      roots: ['share'],
      description: 'polled every 2 s in share, since SMB reports no changes',
    })
    expect(plan({ disks, requestedMs: 5000 })).toMatchObject({
      roots: [''],
      intervalMs: 5000,
      description: 'polled every 5 s, since SMB reports no changes',
    })
  })

  test('checks at most 2,000 files a second, whatever interval was requested', () => {
    for (const paths of [0, 1, 1999, 2001, 4000, 7000, 12_345, 20_000]) {
      const { intervalMs = 0, isPolledByPath } = plan({ disks: NFS, pathCount: paths, requestedMs: 1000 }) ?? {}
      expect(isPolledByPath).toBe(true)
      expect(paths / (intervalMs / 1000), String(paths)).toBeLessThanOrEqual(2000)
      expect(intervalMs, String(paths)).toBeLessThanOrEqual(Math.max(1000, paths))
    }
    expect(plan({ requestedMs: 2000, pathCount: 10_000 })?.description).toBe(
      'polled every 8 s (not every 2 s: 10,000 files)',
    )
  })

  test('replaces checks of single files by scans at longer intervals if the folder has more than 20,000 files', () => {
    const large = plan({ disks: NFS, pathCount: 20_001, scanMs: 700 })
    expect(large).toMatchObject({ isPolledByPath: false, intervalMs: 16_000, scanIntervalMs: 16_000 })
    expect(large?.description).toContain('scanned every 16 s')
  })

  test('scans less often if a scan takes long', () => {
    expect(plan({ disks: NFS, pathCount: 10, scanMs: 10_000 })?.scanIntervalMs).toBe(256_000)
  })

  test('keeps its interval while the number of files changes little', () => {
    expect(plan({ disks: NFS, pathCount: 9000 })?.intervalMs).toBe(plan({ disks: NFS, pathCount: 9999 })?.intervalMs)
  })
})
