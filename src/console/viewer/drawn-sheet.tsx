import { type ReactNode, useState } from 'react'
import type { Drawn } from '../ui/picture.js'

interface DrawnSheetProps {
  drawn: Drawn
  /** alternative text of the picture */
  alt: string
  /** text while the picture loads */
  wait: string
  /** aspect ratio in CSS syntax, used until the picture has loaded */
  shape: string
  className?: string
  /** overlay on the loaded picture */
  children: ReactNode
}

/** A page or picture that the daemon rendered, in a frame of its aspect ratio. */
export function DrawnSheet({ drawn, alt, wait, shape, className = 'page-sheet', children }: DrawnSheetProps) {
  const [known, setKnown] = useState<number>()
  return (
    <div className={className} style={{ aspectRatio: known ?? shape }}>
      {drawn.url === undefined ? (
        <span className="faint small page-wait">{drawn.error ?? wait}</span>
      ) : (
        <>
          <img
            className="page-picture"
            src={drawn.url}
            alt={alt}
            onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) => setKnown(naturalWidth / naturalHeight)}
          />
          {children}
        </>
      )}
    </div>
  )
}
