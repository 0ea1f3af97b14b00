/** What fields of the reading of files hold. */
export const READING_WORDS: Readonly<Record<string, string>> = {
  progress: 'how far the reading of its file is',
  pictures: 'pictures that a vision model describes, and why some wait',
  described: 'how many pictures have a description',
}
