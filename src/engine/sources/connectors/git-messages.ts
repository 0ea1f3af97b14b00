/** What the daemon and the process that reads a repository say to each other. */

export interface GitPlan {
  /** of the repository, without a slash at its end */
  url: string
  branch: string | undefined
  /** folder of the repository that is read, with a slash at its end; '' for all of it */
  folder: string
  /** the only folder that the process may write to */
  workDir: string
  /** whether the pages' texts are laid down in `workDir`, each named by its object id */
  withContent: boolean
}

export interface GitPage {
  path: string
  oid: string
  /** when the commit that changed it last was made, as far as the history that was read goes back */
  lastEditedTime: string
}

export interface GitReading {
  branch: string
  pages: GitPage[]
}

/** To the process: what to do, then the answers to its requests. */
export type ToGit =
  | { kind: 'plan'; plan: GitPlan }
  | { kind: 'answer'; id: number; status: number; headers: Record<string, string>; file: string }
  | { kind: 'refused'; id: number }

/** From the process, which has no network of its own. */
export type FromGit =
  | { kind: 'ready' }
  | { kind: 'request'; id: number; url: string; method: string; headers: Record<string, string>; body: Uint8Array }
  | { kind: 'done'; reading: GitReading }
  | { kind: 'failed'; reason: GitProblem }

export type GitProblem = 'request' | 'branch' | 'too-many' | 'empty' | 'unreadable'

/** Where the blobs are laid down, and where answers are. */
export const BLOBS = 'blobs'
export const ANSWERS = 'answers'
