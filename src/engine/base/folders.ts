import { brokenCursor } from './cursor.js'

/** What ends each folder in the column `folder`; see the migration. */
export const FOLDER_END = '\u0001'
/** the bound after everything that starts with a folder, in place of its last `FOLDER_END` */
const PAST_FOLDER = '\u0002'
/** sorts after every text */
export const LAST = '\u{10ffff}'

/** What sorts just after everything in a folder or below. */
export function pastOf(folder: string): string {
  return folder === '' ? LAST : folder.slice(0, -1) + PAST_FOLDER
}

/** The folder directly below `parent` that holds `folder`. */
export function childFolder(parent: string, folder: string): string {
  const end = folder.indexOf(FOLDER_END, parent.length)
  if (!folder.startsWith(parent) || end === -1) throw brokenCursor()
  return folder.slice(0, end + 1)
}

/** Folders that begin between two places of a walk, outermost first: those around `to` that are not around `from`. */
export function foldersOpened(from: string, to: string): string[] {
  const opened: string[] = []
  for (let end = to.indexOf(FOLDER_END); end !== -1; end = to.indexOf(FOLDER_END, end + 1)) {
    const folder = to.slice(0, end + 1)
    if (!from.startsWith(folder)) opened.push(folder)
  }
  return opened
}
