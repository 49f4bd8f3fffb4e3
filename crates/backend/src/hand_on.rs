/// Writes those methods of a [`Backend`](crate::Backend) that only ask the one behind it, which is in the field that is
/// named first. What a layer over another backend decides by itself it writes out; all it has to say of the rest is which
/// methods they are, the optional ones too: one that is left out is not there.
///
/// ```
/// use bosun_backend::{Backend, hand_on};
///
/// struct Quiet(std::sync::Arc<dyn Backend>);
///
/// impl Backend for Quiet {
///     hand_on!(0: ls, stat, read, write, edit, grep, glob, upload, download, tidy, host_path, direct, resolve);
///     // No shell, and nothing can be deleted.
/// }
/// ```
#[macro_export]
macro_rules! hand_on {
    (@ $inner:tt ls) => {
        fn ls<'a>(
            &'a self,
            path: &'a $crate::VirtualPath,
        ) -> $crate::BoxFuture<'a, Result<$crate::Listed, $crate::BackendError>> {
            self.$inner.ls(path)
        }
    };
    (@ $inner:tt names) => {
        fn names<'a>(
            &'a self,
            path: &'a $crate::VirtualPath,
        ) -> $crate::BoxFuture<'a, Result<$crate::Listed, $crate::BackendError>> {
            self.$inner.names(path)
        }
    };
    (@ $inner:tt stat) => {
        fn stat<'a>(
            &'a self,
            path: &'a $crate::VirtualPath,
        ) -> $crate::BoxFuture<'a, Result<$crate::FileInfo, $crate::BackendError>> {
            self.$inner.stat(path)
        }
    };
    (@ $inner:tt read) => {
        fn read<'a>(
            &'a self,
            path: &'a $crate::VirtualPath,
            window: $crate::ReadWindow,
        ) -> $crate::BoxFuture<'a, Result<$crate::ReadResult, $crate::BackendError>> {
            self.$inner.read(path, window)
        }
    };
    (@ $inner:tt write) => {
        fn write<'a>(
            &'a self,
            path: &'a $crate::VirtualPath,
            bytes: Vec<u8>,
            expect: $crate::Expect,
            witness: &'a dyn $crate::ChangeWitness,
        ) -> $crate::BoxFuture<'a, Result<$crate::Change, $crate::BackendError>> {
            self.$inner.write(path, bytes, expect, witness)
        }
    };
    (@ $inner:tt edit) => {
        fn edit<'a>(
            &'a self,
            path: &'a $crate::VirtualPath,
            replacement: $crate::Replacement<'a>,
            expect: $crate::Expect,
            witness: &'a dyn $crate::ChangeWitness,
        ) -> $crate::BoxFuture<'a, Result<$crate::Change, $crate::BackendError>> {
            self.$inner.edit(path, replacement, expect, witness)
        }
    };
    (@ $inner:tt grep) => {
        fn grep(
            &self,
            query: $crate::GrepQuery,
        ) -> $crate::BoxFuture<'_, Result<$crate::GrepResult, $crate::BackendError>> {
            self.$inner.grep(query)
        }
    };
    (@ $inner:tt glob) => {
        fn glob(
            &self,
            query: $crate::GlobQuery,
        ) -> $crate::BoxFuture<'_, Result<$crate::GlobResult, $crate::BackendError>> {
            self.$inner.glob(query)
        }
    };
    (@ $inner:tt upload) => {
        fn upload(
            &self,
            files: Vec<($crate::VirtualPath, Vec<u8>)>,
        ) -> $crate::BoxFuture<'_, Vec<Result<(), $crate::BackendError>>> {
            self.$inner.upload(files)
        }
    };
    (@ $inner:tt download) => {
        fn download(
            &self,
            paths: Vec<$crate::VirtualPath>,
        ) -> $crate::BoxFuture<'_, Vec<Result<Vec<u8>, $crate::BackendError>>> {
            self.$inner.download(paths)
        }
    };
    (@ $inner:tt stamp) => {
        fn stamp<'a>(
            &'a self,
            path: &'a $crate::VirtualPath,
        ) -> $crate::BoxFuture<'a, Result<$crate::FileStamp, $crate::BackendError>> {
            self.$inner.stamp(path)
        }
    };
    (@ $inner:tt shell) => {
        fn shell(&self) -> Option<&dyn $crate::Shell> {
            self.$inner.shell()
        }
    };
    (@ $inner:tt deleter) => {
        fn deleter(&self) -> Option<&dyn $crate::Delete> {
            self.$inner.deleter()
        }
    };
    (@ $inner:tt modes) => {
        fn modes(&self) -> Option<&dyn $crate::SetMode> {
            self.$inner.modes()
        }
    };
    (@ $inner:tt tidy) => {
        fn tidy<'a>(&'a self, path: &'a $crate::VirtualPath) -> $crate::BoxFuture<'a, ()> {
            self.$inner.tidy(path)
        }
    };
    (@ $inner:tt host_path) => {
        fn host_path(&self, path: &$crate::VirtualPath) -> Option<::std::path::PathBuf> {
            self.$inner.host_path(path)
        }
    };
    (@ $inner:tt direct) => {
        fn direct(&self, path: &$crate::VirtualPath) -> $crate::VirtualPath {
            self.$inner.direct(path)
        }
    };
    (@ $inner:tt resolve) => {
        fn resolve(&self, text: &str) -> Result<$crate::VirtualPath, $crate::BackendError> {
            self.$inner.resolve(text)
        }
    };
    ($inner:tt: $($method:ident),+ $(,)?) => {
        $($crate::hand_on!(@ $inner $method);)+
    };
}
