import { createInvalidCursorError } from './cursor.js'

/** The end of each folder in the column `folder`; see the migration. */
export const FOLDER_END = '\u0001'
/** replaces the last `FOLDER_END` of a folder to get the bound after everything that starts with the folder */
const AFTER_FOLDER = '\u0002'
/** sorts after every text */
export const AFTER_ALL_TEXTS = '\u{10ffff}'

/** The smallest key that sorts after everything in a folder or below. */
export function getFolderUpperBound(folder: string): string {
  return folder === '' ? AFTER_ALL_TEXTS : folder.slice(0, -1) + AFTER_FOLDER
}

/** The folder directly below `parent` that contains `folder`. */
export function getChildFolder(parent: string, folder: string): string {
  const end = folder.indexOf(FOLDER_END, parent.length)
  if (!folder.startsWith(parent) || end === -1) throw createInvalidCursorError()
  return folder.slice(0, end + 1)
}

/**
 * Folders that begin between two folders of a walk, outermost first: ancestors of `to` that are not ancestors of
 * `from`.
 */
export function listOpenedFolders(from: string, to: string): string[] {
  const opened: string[] = []
  for (let end = to.indexOf(FOLDER_END); end !== -1; end = to.indexOf(FOLDER_END, end + 1)) {
    const folder = to.slice(0, end + 1)
    if (!from.startsWith(folder)) opened.push(folder)
  }
  return opened
}
