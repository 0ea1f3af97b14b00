import { type DragEvent, type ReactNode, useRef, useState } from 'react'
import { messageOf } from '../../../api/client.js'
import { Button, classes } from '../../../ui/button.js'
import { plural } from '../../../ui/format.js'
import { Icon } from '../../../ui/icon.js'
import { showToast } from '../../../ui/toast.js'
import { type FileSelection, readDrop, readFileInput } from './file-selection.js'

interface DropZoneProps {
  onFiles: (files: FileSelection['files']) => void
  children?: ReactNode
}

/** Drop zone for files and folders, with buttons to select them. */
export function DropZone({ onFiles, children }: DropZoneProps) {
  const [isOver, setOver] = useState(false)
  const files = useRef<HTMLInputElement>(null)
  const folder = useRef<HTMLInputElement>(null)

  const addSelection = ({ files: selected, hiddenCount }: FileSelection) => {
    if (hiddenCount > 0) showToast(`${plural(hiddenCount, 'hidden file')} skipped.`, 'neutral')
    if (selected.length === 0) showToast('No files found.', 'warn')
    else onFiles(selected)
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    // the card behind the drop zone handles drops, too
    event.stopPropagation()
    setOver(false)
    readDrop(event.dataTransfer).then(addSelection, (error: unknown) => showToast(messageOf(error), 'bad'))
  }
  const onFilesChosen = (input: HTMLInputElement) => {
    if (input.files !== null && input.files.length > 0) addSelection(readFileInput(input.files))
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
        onChange={(event) => onFilesChosen(event.currentTarget)}
      />
      <input
        ref={folder}
        type="file"
        hidden
        aria-label="Folder"
        {...{ webkitdirectory: '' }}
        onChange={(event) => onFilesChosen(event.currentTarget)}
      />
    </section>
  )
}
