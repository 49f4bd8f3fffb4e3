/** Asks for a zip archive in the system's dialog and gives its bytes in base64; `null` when it was cancelled. */
export function pickZip(): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const input = document.createElement('input');
    input.type = 'file';
    input.accept = '.zip,application/zip';
    input.oncancel = () => resolve(null);
    input.onchange = () => {
      const [file] = input.files ?? [];
      if (!file) return resolve(null);
      const reader = new FileReader();
      reader.onerror = () => reject({ code: 'invalid', message: reader.error?.message ?? '' });
      reader.onload = () => resolve(String(reader.result).split(',', 2)[1] ?? '');
      reader.readAsDataURL(file);
    };
    input.click();
  });
}
