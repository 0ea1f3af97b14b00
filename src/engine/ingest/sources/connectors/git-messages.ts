/** Messages between the daemon and the process that reads a repository. */

export interface GitPlan {
  /** URL of the repository, without a slash at its end */
  url: string
  branch: string | undefined
  /** folder of the repository to read, with a slash at its end; '' for all of it */
  folder: string
  /** the only folder that the process may write to */
  workDir: string
  /** whether the texts of pages are written to `workDir`, each named by its object id */
  withContent: boolean
}

export interface GitPage {
  path: string
  oid: string
  /** time of the last commit that changed it, within the fetched history */
  lastEditedTime: string
}

export interface GitReading {
  branch: string
  pages: GitPage[]
}

/** To the process: the plan, then the replies to its requests. */
export type ToGit =
  | { kind: 'plan'; plan: GitPlan }
  | { kind: 'answer'; id: number; status: number; headers: Record<string, string>; file: string }
  | { kind: 'refused'; id: number }

/** From the process, which has no network. */
export type FromGit =
  | { kind: 'ready' }
  | { kind: 'request'; id: number; url: string; method: string; headers: Record<string, string>; body: Uint8Array }
  | { kind: 'done'; reading: GitReading }
  | { kind: 'failed'; reason: GitProblem }

export type GitProblem = 'request' | 'branch' | 'too-many' | 'empty' | 'unreadable'

/** Folders for blobs and for responses. */
export const BLOBS = 'blobs'
export const ANSWERS = 'answers'
