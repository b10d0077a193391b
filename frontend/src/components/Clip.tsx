/** A name in one line. Of a path what does not fit is cut off at its beginning: its end tells it apart. */

interface Properties {
  children: string;
  title?: string;
  quiet?: boolean;
}

const PATH = /^[^/\s]+(\/[^/\s]+){2,}$/;

export function Clip({ children, title, quiet = false }: Properties) {
  const isPath = PATH.test(children);
  const words = ["clip", isPath && "clip-begin", quiet && "quiet"].filter(Boolean).join(" ");
  return (
    <span class={words} title={title}>
      {isPath ? <bdi dir="ltr">{children}</bdi> : children}
    </span>
  );
}
