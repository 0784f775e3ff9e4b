import Audio
import Foundation
import OggOpus
import Wire

/// Encoded speech as frames that only need a stamp. Encoded once at start and shared by all tracks, each with its own offset.
final class SpeechPackets {
    /// 20 ms in 48 kHz ticks.
    static let ticksPerFrame: UInt32 = 960

    private let storage: UnsafeMutableRawBufferPointer
    private let offsets: [Int]
    var count: Int { offsets.count - 1 }

    /// - Parameter packets: Opus packets of 20 ms, with their levels.
    init(_ packets: [(packet: [UInt8], level: AudioLevelByte)]) throws {
        var bytes: [UInt8] = []
        var offsets = [0]
        for (packet, level) in packets {
            guard (try? OpusPacket(packet).ticks) == Int(Self.ticksPerFrame) else { continue }
            let start = bytes.count
            bytes += [FrameKind.audio.rawValue, 0, 0, 0, 0, 0, level.rawValue, 0, 0, 0, 0, 0] + packet
            bytes += [UInt8](repeating: 0, count: max(0, FrameStamp.frameBytesMin - (bytes.count - start)))
            offsets.append(bytes.count)
        }
        guard offsets.count > 1 else {
            throw UsageError("the speech file contains no Opus packets of 20 ms; use a longer WAV or Ogg Opus file")
        }
        self.offsets = offsets
        storage = .allocate(byteCount: bytes.count, alignment: 16)
        storage.copyBytes(from: bytes)
    }

    deinit {
        storage.deallocate()
    }

    /// A complete frame except for what `FrameStamp` writes.
    func frame(_ index: Int) -> UnsafeRawBufferPointer {
        let index = index % count
        return UnsafeRawBufferPointer(rebasing: storage[offsets[index]..<offsets[index + 1]])
    }

    /// Encodes a WAV file, or takes the packets of an Ogg Opus file.
    static func load(_ path: String, bitsPerSecond: Int) throws -> SpeechPackets {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw UsageError("cannot read the speech file \(path); pass a WAV or Ogg Opus file with --speech")
        }
        let bytes = [UInt8](data)
        return try SpeechPackets(bytes.starts(with: "OggS".utf8) ? packets(ofOgg: bytes) : encode(wav: bytes, bitsPerSecond))
    }

    private static func packets(ofOgg bytes: [UInt8]) throws -> [(packet: [UInt8], level: AudioLevelByte)] {
        var reader = try OggOpusReader(bytes)
        var packets: [(packet: [UInt8], level: AudioLevelByte)] = []
        while let packet = try reader.next() { packets.append((packet.bytes, AudioLevelByte(voice: true, level: 25))) }
        return packets
    }

    private static func encode(wav bytes: [UInt8], _ bitsPerSecond: Int) throws -> [(packet: [UInt8], level: AudioLevelByte)] {
        let sound = try WAVFile.read(bytes, mono: true).resampled(to: 48_000)
        var encoder = try OpusEncoder(bitsPerSecond: bitsPerSecond)
        return try stride(from: 0, to: sound.samples.count - 959, by: 960).map { start in
            let pcm = Array(sound.samples[start..<start + 960])
            // Always with the voice bit: the scenario decides what is speech, not the recording.
            return (try encoder.encode(pcm), AudioLevelByte(voice: true, level: Int(AudioLevel(of: pcm).value)))
        }
    }
}
