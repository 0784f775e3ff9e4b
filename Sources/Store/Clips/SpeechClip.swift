package typealias ClipID = RecordID<SpeechClip>

/// The text of a clip, and how it is spoken. A requester's equal requests share one clip, and so do those of all services.
package struct SpeechRequest: Sendable, Hashable, Codable {
    package var text: String
    package var voice: String
    /// Which generator makes it, such as `embedded`.
    package var provider: String

    package init(text: String, voice: String, provider: String) {
        self.text = text
        self.voice = voice
        self.provider = provider
    }
}

/// A generated text, or the order to generate it.
package struct SpeechClip: Sendable, Hashable {
    package enum Status: String, Sendable, Hashable, CaseIterable, SQLValue {
        /// Not generated yet: waiting, in progress, or interrupted by the end of the process.
        case queued
        case ready, failed
    }

    package let id: ClipID
    package let request: SpeechRequest
    package let status: Status
    /// Of a ready clip.
    package let details: ClipDetails?
    /// Why a clip has failed, for the requester.
    package let failure: String?
    /// Of the audio file.
    package let byteCount: Int
    /// The time of the owner's first request. Nil for clips of earlier versions.
    package let createdAt: WallTime?
}

package struct ClipDetails: Sendable, Hashable, Codable {
    package var mimeType: String
    package var durationMs: Int
    /// Nil if the generator has no word times.
    package var words: [SpokenWord]?
    /// How the clip was generated. Nil in clips of earlier versions.
    package var generation: ClipGeneration?

    package init(mimeType: String, durationMs: Int, words: [SpokenWord]?, generation: ClipGeneration? = nil) {
        self.mimeType = mimeType
        self.durationMs = durationMs
        self.words = words
        self.generation = generation
    }
}

/// The course of a clip's generation in time. A clip that gets the audio of an equal one takes the same course.
package struct ClipGeneration: Sendable, Hashable, Codable {
    package struct Step: Sendable, Hashable, Codable {
        package var percent: Int
        /// Since the beginning.
        package var atMs: Int

        package init(_ percent: Int, atMs: Int) {
            self.percent = percent
            self.atMs = atMs
        }
    }

    package var steps: [Step]
    package var totalMs: Int

    package init(steps: [Step], totalMs: Int) {
        self.steps = steps
        self.totalMs = totalMs
    }
}

/// A word with its time from the beginning of the audio.
package struct SpokenWord: Sendable, Hashable, Codable {
    package var text: String
    package var startMs: Int
    package var endMs: Int

    package init(_ text: String, startMs: Int, endMs: Int) {
        self.text = text
        self.startMs = startMs
        self.endMs = endMs
    }
}

/// For whom a clip is made. It decides who may see the clip, and what its deletion takes along.
package enum ClipOwner: Sendable, Hashable {
    /// Sees the clips it has requested. Deleted with its account.
    case user(UserID)
    /// An assistant. Sees all clips that a service has requested.
    case service
    /// Sees all clips.
    case administrator
}

/// How many clips are kept. The least recently used are deleted first.
package struct ClipLimits: Sendable {
    package var clipsMax: Int
    /// Of all audio files together.
    package var bytesMax: Int
    /// Clips that one user has requested.
    package var clipsPerUserMax: Int

    package init(clipsMax: Int = 4_096, bytesMax: Int = 256 << 20, clipsPerUserMax: Int = 512) {
        self.clipsMax = clipsMax
        self.bytesMax = bytesMax
        self.clipsPerUserMax = clipsPerUserMax
    }
}
