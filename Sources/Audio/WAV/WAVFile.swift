/// Reads and writes WAV files, as bytes in memory. Opening files is the caller's business.
public enum WAVFile {
    /// Reads integer PCM of 8, 16, 24 and 32 bits and 32-bit float, plain or `WAVE_FORMAT_EXTENSIBLE`, any number of channels.
    ///
    /// Sizes in the file are claims. A program that writes to a pipe cannot know them and announces 0 or some number of nearly 2 or 4 GiB:
    /// such data is read till the end. A last frame that is not whole is left out.
    ///
    /// - Parameter mono: mixes all channels into one.
    public static func read(_ bytes: [UInt8], mono: Bool = false) throws(WAVError) -> PCMBuffer {
        let chunks = try WAVChunks(of: bytes)
        let format = try WAVFormat(bytes[chunks.format])
        let sound = PCMBuffer(
            samples: WAVSamples.decode(bytes[chunks.data], format), sampleRate: format.sampleRate, channels: format.channels)
        return mono ? sound.mixedToMono() : sound
    }

    /// A file of 16-bit PCM.
    public static func write(_ sound: PCMBuffer) throws(WAVError) -> [UInt8] {
        let headerBytes = 44
        let bytesPerFrame = 2 * sound.channels
        let (dataBytes, overflows) = sound.samples.count.multipliedReportingOverflow(by: 2)
        guard !overflows, let riffBytes = UInt32(exactly: dataBytes + headerBytes - 8) else {
            throw .tooLong(samples: sound.samples.count)
        }
        guard let channels = UInt16(exactly: sound.channels), let blockBytes = UInt16(exactly: bytesPerFrame),
            let sampleRate = UInt32(exactly: sound.sampleRate),
            let bytesPerSecond = UInt32(exactly: sound.sampleRate * bytesPerFrame)
        else {
            throw .inconsistentFormat(channels: sound.channels, sampleRate: sound.sampleRate, bytesPerFrame: bytesPerFrame)
        }

        var file: [UInt8] = []
        file.reserveCapacity(headerBytes + dataBytes)
        file.append(contentsOf: "RIFF".utf8)
        file.append(littleEndian: riffBytes)
        file.append(contentsOf: "WAVEfmt ".utf8)
        file.append(littleEndian: UInt32(16))
        file.append(littleEndian: UInt16(WAVFormat.pcmTag))
        file.append(littleEndian: channels)
        file.append(littleEndian: sampleRate)
        file.append(littleEndian: bytesPerSecond)
        file.append(littleEndian: blockBytes)
        file.append(littleEndian: UInt16(16))
        file.append(contentsOf: "data".utf8)
        file.append(littleEndian: UInt32(dataBytes))
        for sample in sound.samples { file.append(littleEndian: sample) }
        return file
    }
}
