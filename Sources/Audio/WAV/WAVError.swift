/// Why bytes could not be read as a WAV file, or sound not be written as one.
public enum WAVError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The first twelve bytes are not those of a RIFF or RF64 file of type WAVE.
    case notWAV
    /// The file ends before a chunk it announces does.
    case truncated(chunk: String, announced: Int, present: Int)
    /// There is no `fmt ` chunk before the samples, or it is too short to be one.
    case formatMissing
    /// There is no `data` chunk.
    case dataMissing
    /// A coding other than integer PCM of 8 to 32 bits or 32-bit float.
    case encoding(tag: Int, bitsPerSample: Int)
    /// Channel count, sample rate and block size do not fit together.
    case inconsistentFormat(channels: Int, sampleRate: Int, bytesPerFrame: Int)
    /// A WAV file's sizes have 32 bits.
    case tooLong(samples: Int)

    public var description: String {
        switch self {
        case .notWAV:
            "Not a WAV file: it does not begin with RIFF…WAVE. Convert it first."
        case .truncated(let chunk, let announced, let present):
            "The WAV file is cut off: its '\(chunk)' chunk announces \(announced) bytes, \(present) are there. Copy it again."
        case .formatMissing:
            "The WAV file has no usable 'fmt ' chunk before its samples; its program wrote it wrongly."
        case .dataMissing:
            "The WAV file has no 'data' chunk, so no sound; check how it was recorded."
        case .encoding(let tag, let bits):
            "The WAV file's coding (format \(tag), \(bits) bits) is not read here; convert it to 16-bit PCM."
        case .inconsistentFormat(let channels, let rate, let bytes):
            "The WAV file's header contradicts itself (\(channels) channels, \(rate) Hz, \(bytes) bytes a frame); convert it again."
        case .tooLong(let samples):
            "\(samples) samples do not fit into a WAV file; write several."
        }
    }
}
