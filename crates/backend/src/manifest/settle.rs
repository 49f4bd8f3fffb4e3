use std::fs::File;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use rustix::io::Errno;

use super::look::{Differences, Figures, GRAIN, Kept, Met, Seen, whole};
use super::pack::Pack;
use super::{CommandChange, CommandChanges, Known, Sightings, UnkeptChange};
use crate::root::{Links, NAME, READ, Root, file_type};
use crate::{ContentHash, VirtualPath};

/// Threads that compare and store what a command changed: each waits for the disk most of the time.
const THREADS: usize = 8;

/// A file that is not as it was seen last.
struct Case {
    path: VirtualPath,
    before: Option<(Figures, Option<Kept>)>,
    /// `None`: it was not met any more.
    now: Option<(Figures, bool)>,
}

impl Case {
    /// The permission bits before, where there was a file.
    fn mode(&self) -> Option<u32> {
        self.before.as_ref().map(|(figures, _)| figures.mode)
    }
}

/// What became of it.
struct Verdict {
    path: VirtualPath,
    /// How it is known from now on; `None`: not any more.
    seen: Option<Seen>,
    did: Did,
}

enum Did {
    Nothing,
    Changed(CommandChange),
    Unkept(UnkeptChange),
}

impl Sightings {
    /// Takes what a look found: into what is known, and to the command that did it.
    pub(super) fn settle(&self, root: &Root, found: Differences) {
        let number = self.read().look;
        if !found.told {
            return self.take_up(found, number);
        }
        let (cases, pack) = self.cases(found);
        let judge = Judge {
            sightings: self,
            root,
            pack,
            since: self.commands().running.first().map_or(i64::MAX, |running| running.since),
            until: Instant::now() + self.limits.keep_time,
            number,
        };
        self.tell(judge.all(cases));
    }

    /// Nobody did this as far as Bosun knows: it is what the next command meets.
    fn take_up(&self, found: Differences, number: u32) {
        let mut known = self.write();
        let mut noted = found.gone;
        for path in &noted {
            known.files.remove(path);
        }
        for Met { path, figures, kept, fresh } in found.met {
            known.files.insert(path.clone(), Seen { figures, kept, fresh, look: AtomicU32::new(number) });
            noted.push(path);
        }
        self.note_seen(&known, &noted);
    }

    /// What is known of these files now is there after a crash too.
    fn note_seen(&self, known: &Known, paths: &[VirtualPath]) {
        if let Some(trail) = self.trail() {
            trail.note(paths.iter().map(|path| (path, known.files.get(path))));
        }
    }

    fn cases(&self, found: Differences) -> (Vec<Case>, Option<Arc<Pack>>) {
        let known = self.read();
        let before = |path: &VirtualPath| known.files.get(path).map(|seen| (seen.figures, seen.kept.clone()));
        let met = found.met.into_iter().map(|met| Case {
            before: before(&met.path),
            now: Some((met.figures, met.fresh)),
            path: met.path,
        });
        let gone = found.gone.into_iter().map(|path| Case { before: before(&path), now: None, path });
        let mut cases: Vec<Case> = met.chain(gone).collect();
        cases.sort_by(|a, b| a.path.cmp(&b.path));
        (cases, known.pack.clone())
    }

    fn tell(&self, verdicts: Vec<Verdict>) {
        let mut known = self.write();
        let mut commands = self.commands();
        let noted = std::mem::take(&mut commands.noted);
        let mut did = Vec::new();
        let mut settled = Vec::with_capacity(verdicts.len());
        for Verdict { path, seen, did: one } in verdicts {
            match seen {
                Some(seen) => known.files.insert(path.clone(), seen),
                None => known.files.remove(&path),
            };
            settled.push(path);
            let by_tool = matches!(&one, Did::Changed(change) if noted.get(&change.path) == Some(&change.after));
            if !by_tool {
                did.push(one);
            }
        }
        if let Some(first) = commands.running.first_mut() {
            first.found.add(did, self.limits.named);
        }
        commands.noted = noted;
        self.note_seen(&known, &settled);
    }
}

impl CommandChanges {
    fn add(&mut self, did: Vec<Did>, named: usize) {
        for one in did {
            match one {
                Did::Nothing => {}
                Did::Changed(change) => match self.changes.iter_mut().find(|known| known.path == change.path) {
                    Some(known) => (known.after, known.mode_after) = (change.after, change.mode_after),
                    None => self.changes.push(change),
                },
                Did::Unkept(change) if self.unkept.len() < named => self.unkept.push(change),
                Did::Unkept(_) => self.more += 1,
            }
        }
        self.changes.retain(CommandChange::is_change);
        self.changes.sort_by(|a, b| a.path.cmp(&b.path));
        self.unkept.sort_by(|a, b| a.path.cmp(&b.path));
    }
}

struct Judge<'a> {
    sightings: &'a Sightings,
    root: &'a Root,
    pack: Option<Arc<Pack>>,
    /// When the command began.
    since: i64,
    /// Until when bytes are stored.
    until: Instant,
    number: u32,
}

impl Judge<'_> {
    fn all(&self, mut cases: Vec<Case>) -> Vec<Verdict> {
        let over = cases.split_off(cases.len().min(self.sightings.limits.changes));
        let cases = Mutex::new(cases.into_iter());
        let verdicts = Mutex::new(Vec::new());
        let next = || cases.lock().unwrap_or_else(PoisonError::into_inner).next();
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    while let Some(case) = next() {
                        let verdict = self.one(case);
                        verdicts.lock().unwrap_or_else(PoisonError::into_inner).push(verdict);
                    }
                });
            }
        });
        let mut verdicts = verdicts.into_inner().unwrap_or_else(PoisonError::into_inner);
        verdicts.extend(over.into_iter().map(|case| self.uncompared(case)));
        verdicts
    }

    /// One of too many: its bytes are not looked at.
    fn uncompared(&self, case: Case) -> Verdict {
        match (&case.before, case.now) {
            (Some((old, kept)), Some((now, _)))
                if (old.size, old.modified, old.mode) == (now.size, now.modified, now.mode) =>
            {
                let kept = kept.clone();
                self.verdict(case, kept, Did::Nothing)
            }
            _ => self.unkept(case),
        }
    }

    fn one(&self, case: Case) -> Verdict {
        match case.now {
            Some((figures, _)) => self.met(case, figures),
            None => self.gone(case),
        }
    }

    fn met(&self, case: Case, figures: Figures) -> Verdict {
        let small = figures.size <= self.sightings.limits.file_bytes && Instant::now() < self.until;
        let file = if small { self.open(&case.path) } else { None };
        let is_shut = small && file.is_none();
        let bytes = file.and_then(|file| whole(file, &figures));
        let before = match &case.before {
            // It was there before the command and is only met now: an ignore file no longer names it.
            None if figures.changed < self.since.saturating_sub(GRAIN) => {
                let packed = bytes.and_then(|bytes| self.pack.as_ref()?.put(&bytes)).map(Kept::Packed);
                return self.verdict(case, packed, Did::Nothing);
            }
            None => None,
            Some((old, None))
                if (old.size, old.modified, old.mode) == (figures.size, figures.modified, figures.mode) =>
            {
                return self.verdict(case, None, Did::Nothing);
            }
            Some((_, None)) => return self.unkept(case),
            Some((old, Some(kept))) => match self.bytes(kept) {
                // What cannot be read any more, and was not written, is what it was.
                Some(before) if Some(&before) == bytes.as_ref() || is_shut && old.is_unwritten(&figures) => {
                    let (kept, did) = (kept.clone(), self.given(&case.path, &before, (old.mode, figures.mode)));
                    return self.verdict(case, Some(kept), did);
                }
                Some(before) => Some(before),
                None => return self.unkept(case),
            },
        };
        let after = bytes.and_then(|bytes| self.stored(&bytes));
        let before = before.map(|before| self.stored(&before));
        match (before, after) {
            (Some(None), _) | (_, None) => self.unkept(case),
            (before, Some(after)) => {
                let kept = Some(Kept::Stored(after.clone()));
                let change = CommandChange {
                    path: case.path.clone(),
                    before: before.flatten(),
                    after: Some(after),
                    mode: case.mode(),
                    mode_after: Some(figures.mode),
                };
                self.verdict(case, kept, Did::Changed(change))
            }
        }
    }

    /// What became of a file that has the same bytes: it may have other rights.
    fn given(&self, path: &VirtualPath, bytes: &[u8], (mode, now): (u32, u32)) -> Did {
        let hash = (mode != now).then(|| self.stored(bytes)).flatten();
        hash.map_or(Did::Nothing, |hash| {
            let (before, after) = (Some(hash.clone()), Some(hash));
            Did::Changed(CommandChange { path: path.clone(), before, after, mode: Some(mode), mode_after: Some(now) })
        })
    }

    fn gone(&self, case: Case) -> Verdict {
        match self.root.open_path(&case.path, NAME, Links::Refuse).and_then(rustix::fs::fstat) {
            // Still there: an ignore file names it now.
            Ok(stat) if file_type(&stat) == rustix::fs::FileType::RegularFile => {
                return Verdict { path: case.path, seen: None, did: Did::Nothing };
            }
            Ok(_) | Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV) => {}
            Err(_) => return Verdict { path: case.path, seen: None, did: Did::Nothing },
        }
        let kept = case.before.as_ref().and_then(|(_, kept)| kept.as_ref());
        let before = kept.and_then(|kept| self.bytes(kept)).and_then(|bytes| self.stored(&bytes));
        match before {
            Some(before) => {
                let change = CommandChange {
                    path: case.path.clone(),
                    before: Some(before),
                    after: None,
                    mode: case.mode(),
                    mode_after: None,
                };
                Verdict { path: case.path, seen: None, did: Did::Changed(change) }
            }
            None => self.unkept(case),
        }
    }

    fn unkept(&self, case: Case) -> Verdict {
        let change = UnkeptChange {
            path: case.path.clone(),
            before: case.before.as_ref().map(|(figures, _)| figures.size),
            after: case.now.map(|(figures, _)| figures.size),
        };
        self.verdict(case, None, Did::Unkept(change))
    }

    fn verdict(&self, case: Case, kept: Option<Kept>, did: Did) -> Verdict {
        let seen = case.now.map(|(figures, fresh)| Seen { figures, kept, fresh, look: AtomicU32::new(self.number) });
        Verdict { path: case.path, seen, did }
    }

    fn open(&self, path: &VirtualPath) -> Option<File> {
        self.root.open_path(path, READ, Links::Refuse).ok().map(File::from)
    }

    fn bytes(&self, kept: &Kept) -> Option<Vec<u8>> {
        let read = match kept {
            Kept::Packed(packed) => self.pack.as_ref()?.get(*packed).map_err(|error| error.to_string()),
            Kept::Stored(hash) => self.sightings.blobs.get_now(hash).map_err(|error| error.to_string()),
        };
        read.inspect_err(|error| tracing::warn!(%error, "the kept bytes of a file cannot be read")).ok()
    }

    fn stored(&self, bytes: &[u8]) -> Option<ContentHash> {
        let stored = self.sightings.blobs.put_now(bytes);
        stored.inspect_err(|error| tracing::warn!(%error, "the bytes of a file cannot be kept")).ok()
    }
}
