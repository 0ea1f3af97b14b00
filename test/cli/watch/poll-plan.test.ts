import { describe, expect, test } from 'vitest'
import { type PollFacts, pollPlan } from '../../../src/cli/watch/poll-plan.js'

const NFS = [{ path: '', kind: 'NFS' }]
const plan = (facts: Partial<PollFacts>) => pollPlan({ askedMs: undefined, disks: [], paths: 0, scanMs: 1, ...facts })

describe('how a folder is polled', () => {
  test('is not polled where the file system tells of changes and nobody asked for it', () => {
    expect(plan({ paths: 100_000 })).toBeUndefined()
  })

  test('is polled every 2 s on a disk that tells nothing, and that is said', () => {
    expect(plan({ disks: NFS, paths: 300 })).toEqual({
      roots: [''],
      everyMs: 2000,
      isSingle: true,
      scanEveryMs: 60_000,
      description: 'polled every 2 s, since NFS reports no changes',
    })
  })

  test('only the parts are polled that need it, but for all that was asked for', () => {
    const disks = [{ path: 'share', kind: 'SMB' }]
    expect(plan({ disks })).toMatchObject({
      roots: ['share'],
      description: 'polled every 2 s in share, since SMB reports no changes',
    })
    expect(plan({ disks, askedMs: 5000 })).toMatchObject({
      roots: [''],
      everyMs: 5000,
      description: 'polled every 5 s, since SMB reports no changes',
    })
  })

  test('never asks for more than 2,000 files a second, however soon it was to be', () => {
    for (const paths of [0, 1, 1999, 2001, 4000, 7000, 12_345, 20_000]) {
      const { everyMs = 0, isSingle } = plan({ disks: NFS, paths, askedMs: 1000 }) ?? {}
      expect(isSingle).toBe(true)
      expect(paths / (everyMs / 1000), String(paths)).toBeLessThanOrEqual(2000)
      expect(everyMs, String(paths)).toBeLessThanOrEqual(Math.max(1000, paths))
    }
    expect(plan({ askedMs: 2000, paths: 10_000 })?.description).toBe('polled every 8 s (not every 2 s: 10,000 files)')
  })

  test('looks at everything where files are too many to poll them one by one, a twentieth of the time at most', () => {
    const large = plan({ disks: NFS, paths: 20_001, scanMs: 700 })
    expect(large).toMatchObject({ isSingle: false, everyMs: 16_000, scanEveryMs: 16_000 })
    expect(large?.description).toContain('scanned every 16 s')
  })

  test('looks at everything more seldom where a look takes long', () => {
    expect(plan({ disks: NFS, paths: 10, scanMs: 10_000 })?.scanEveryMs).toBe(256_000)
  })

  test('keeps its pace while some files come and go', () => {
    expect(plan({ disks: NFS, paths: 9000 })?.everyMs).toBe(plan({ disks: NFS, paths: 9999 })?.everyMs)
  })
})
