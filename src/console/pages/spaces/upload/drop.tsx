import { type DragEvent, type ReactNode, useRef, useState } from 'react'
import { messageOf } from '../../../api/client.js'
import { Button, classes } from '../../../ui/button.js'
import { plural } from '../../../ui/format.js'
import { Icon } from '../../../ui/icon.js'
import { say } from '../../../ui/toast.js'
import { type Dropped, filesOfDrop, filesOfField } from './dropped.js'

interface DropProps {
  onFiles: (files: Dropped['files']) => void
  children?: ReactNode
}

/** Drop zone for files and folders, with buttons to select them. */
export function Drop({ onFiles, children }: DropProps) {
  const [isOver, setOver] = useState(false)
  const files = useRef<HTMLInputElement>(null)
  const folder = useRef<HTMLInputElement>(null)

  const take = ({ files: found, hidden }: Dropped) => {
    if (hidden > 0) say(`${plural(hidden, 'hidden file')} skipped.`, 'neutral')
    if (found.length === 0) say('No files found.', 'warn')
    else onFiles(found)
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    // the card behind the drop zone handles drops, too
    event.stopPropagation()
    setOver(false)
    filesOfDrop(event.dataTransfer).then(take, (error: unknown) => say(messageOf(error), 'bad'))
  }
  const chosen = (input: HTMLInputElement) => {
    if (input.files !== null && input.files.length > 0) take(filesOfField(input.files))
    input.value = ''
  }
  return (
    <section
      className={classes('drop', isOver && 'is-over')}
      aria-label="Add documents"
      onDragOver={(event) => {
        event.preventDefault()
        event.stopPropagation()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <Icon name="upload" size={24} />
      <p className="drop-words">{children ?? 'Drop a folder or files here'}</p>
      <div className="row">
        <Button small icon="folder" onClick={() => folder.current?.click()}>
          Choose a folder
        </Button>
        <Button small icon="file" onClick={() => files.current?.click()}>
          Choose files
        </Button>
      </div>
      <input
        ref={files}
        type="file"
        multiple
        hidden
        aria-label="Files"
        onChange={(event) => chosen(event.currentTarget)}
      />
      <input
        ref={folder}
        type="file"
        hidden
        aria-label="Folder"
        {...{ webkitdirectory: '' }}
        onChange={(event) => chosen(event.currentTarget)}
      />
    </section>
  )
}
