import Audio
import PatchbayAgents
import Testing
import Wire

struct SpeechAnswerTests {
    private static let samples = (0..<2_000).map { Int16(truncatingIfNeeded: $0 &* 37 &- 9_000) }
    private static let pcm = samples.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }

    @Test(arguments: [1, 2, 3, 7, 999, 4_000]) func pcmIsReadWhereverItIsCut(pieceBytes: Int) throws {
        let pieces = try read(Self.pcm, pieceBytes: pieceBytes)
        #expect(pieces.flatMap(\.samples) == Self.samples)
        #expect(pieces.allSatisfy { $0.sampleRate == 24_000 })
        #expect(pieces.dropLast().allSatisfy { $0.samples.count >= 480 }, "pieces shorter than 20 ms")
    }

    @Test(arguments: [1, 5, 43, 44, 45, 4_000], [UInt32(4_000), 0, 0xFFFF_FFFF]) func wavIsReadAtItsOwnRate(
        pieceBytes: Int, announced: UInt32
    ) throws {
        var file = try WAVFile.write(PCMBuffer(samples: Self.samples, sampleRate: 22_050))
        for index in 0..<4 { file[40 + index] = UInt8(truncatingIfNeeded: announced >> (8 * index)) }
        let pieces = try read(file, pieceBytes: pieceBytes)
        #expect(pieces.flatMap(\.samples) == Self.samples)
        #expect(pieces.allSatisfy { $0.sampleRate == 22_050 })
    }

    @Test func whatFollowsTheSamplesInAWAVFileIsNotPlayed() throws {
        let file = try WAVFile.write(PCMBuffer(samples: Self.samples, sampleRate: 24_000)) + Array("LIST????".utf8)
        #expect(try read(file, pieceBytes: 100).flatMap(\.samples) == Self.samples)
    }

    @Test func theContentTypeMayNameTheRate() throws {
        #expect(try read(Self.pcm, pieceBytes: 100, type: "audio/pcm; rate=16000")[0].sampleRate == 16_000)
    }

    @Test(arguments: ["text/html", "application/json", "audio/mpeg", "audio/pcm;rate=4000", "audio/pcm;rate=x"])
    func otherContentIsRefused(type: String) {
        let error = #expect(throws: ProviderError.self) { try read(Self.pcm, pieceBytes: 100, type: type) }
        #expect(error?.code == .invalidResponse)
    }

    @Test(arguments: ["", "x", "<!DOCTYPE html>", "OggS and more", "RIFF????AVI LIST"]) func contentThatIsNoSpeechIsRefused(_ text: String)
    {
        let error = #expect(throws: ProviderError.self) { try read(Array(text.utf8), pieceBytes: 3) }
        #expect(error?.code == .invalidResponse)
    }

    @Test func aTruncatedWAVFileIsADisconnection() throws {
        let file = try WAVFile.write(PCMBuffer(samples: Self.samples, sampleRate: 24_000)).dropLast(1_000)
        let error = #expect(throws: ProviderError.self) { try read(Array(file), pieceBytes: 100) }
        #expect(error?.code == .disconnected)
    }

    @Test func speechWithoutEndStopsAtItsLimit() throws {
        var (reader, parts) = (SpeechAnswer(), [SynthesizedSpeech]())
        let second = [UInt8](repeating: 1, count: 48_000)
        for _ in 0..<SpeechAnswer.secondsMax { try reader.receive(second, into: &parts) }
        #expect(throws: ProviderError.self) { try reader.receive(second, into: &parts) }
    }

    private func read(_ bytes: [UInt8], pieceBytes: Int, type: String = "audio/pcm") throws -> [SynthesizedSpeech] {
        var (reader, parts, rest) = (SpeechAnswer(), [SynthesizedSpeech](), bytes[...])
        try reader.begin(contentType: type)
        while !rest.isEmpty {
            try reader.receive(Array(rest.prefix(pieceBytes)), into: &parts)
            rest = rest.dropFirst(pieceBytes)
        }
        try reader.finish(into: &parts)
        return parts
    }
}

struct TranscriptionAnswerTests {
    @Test(arguments: [("english", "en-US"), ("en", "en-US"), ("de", "de")])
    func aLanguageIsATagAndTheExpectedOneIfTheServerNamesNone(reported: String, language: String) throws {
        let segment = SpeechSegment(samples: Array(repeating: 0, count: 16_000), start: Instant(nanoseconds: 0), language: "en-US")
        let body = #"{"text":" Hello there. ","language":"\#(reported)","words":[{"word":" Hello","start":-1}]}"#
        var (reader, parts) = (TranscriptionAnswer(for: segment), [Recognition]())
        for byte in body.utf8 { try reader.receive([byte], into: &parts) }
        try reader.finish(into: &parts)
        #expect(parts == [Recognition(text: "Hello there.", language: language)])
    }
}

struct MultipartFormTests {
    @Test func partsAreSeparatedByTheBoundary() {
        var form = MultipartForm(boundary: "b")
        form.append("model", "whisper")
        form.append("file", fileName: "speech.wav", type: "audio/wav", [1, 13, 10, 45, 45, 255])
        var expected = Array("--b\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nwhisper\r\n--b\r\n".utf8)
        expected += Array("Content-Disposition: form-data; name=\"file\"; filename=\"speech.wav\"\r\nContent-Type: audio/wav\r\n\r\n".utf8)
        expected += [1, 13, 10, 45, 45, 255] + Array("\r\n--b--\r\n".utf8)
        #expect(form.bytes == expected)
        #expect(form.contentType == "multipart/form-data; boundary=b")
    }
}
