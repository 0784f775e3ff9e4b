import Testing
import Wire

@testable import PatchbayAgents

struct MoonshineRecognizerTests {
    @Test func theDemoClipIsUnderstood() async throws {
        #expect(words(try await Embedded.text(of: Embedded.demoClip())) == words(Embedded.demoText))
    }

    @Test func concurrentSegmentsGetTheirOwnResults() async throws {
        let recognizer = try await Embedded.recognizer()
        let clip = try Embedded.demoClip()
        let spoken = "The train to the city leaves at nine."
        let other = try await Embedded.speech(Embedded.hibari().synthesize(spoken, voice: "alloy")).forRecognizer()
        try await withThrowingTaskGroup(of: (Int, String).self) { group in
            for index in 0..<6 {
                group.addTask {
                    let segment = SpeechSegment(samples: index % 2 == 0 ? clip : other, start: Instant(nanoseconds: UInt64(index)))
                    return (index, try await Embedded.text(of: segment, with: recognizer))
                }
            }
            for try await (index, text) in group {
                #expect(words(text) == words(index % 2 == 0 ? Embedded.demoText : spoken))
            }
        }
    }

    @Test func severalModelsWorkAtOnce() async throws {
        var settings = MoonshineRecognizer.Settings()
        settings.models = 2
        let recognizer = try await MoonshineRecognizer(models: Embedded.models(), settings: settings)
        let clip = try Embedded.demoClip()
        let texts = try await withThrowingTaskGroup(of: String.self) { group in
            for index in 0..<4 {
                group.addTask {
                    try await Embedded.text(of: SpeechSegment(samples: clip, start: Instant(nanoseconds: UInt64(index))), with: recognizer)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(texts.map(words) == Array(repeating: words(Embedded.demoText), count: 4))
    }

    @Test func aPartialSegmentHasAPartialResult() async throws {
        let segment = SpeechSegment(samples: try Embedded.demoClip(), start: Instant(nanoseconds: 5), isPartial: true)
        var results: [Recognition] = []
        for try await result in try await Embedded.recognizer().recognize(segment) { results.append(result) }
        #expect(results.map(\.isFinal) == [false])
    }

    @Test(arguments: [
        [], [0.1], Signal.silence(2), Signal.noise(2), Signal.noise(2, level: 0.001), Signal.tone(2),
        [Float](repeating: .nan, count: 16_000),
    ])
    func silenceNoiseAndTonesHaveNoText(_ samples: [Float]) async throws {
        #expect(try await Embedded.text(of: samples) == "")
    }

    @Test func aLongSegmentIsRecognizedInParts() async throws {
        let sentences = [
            "The first train leaves the station at seven in the morning.", "Please bring a warm coat and a good book with you.",
            "There are four people waiting in the small room.", "My sister wants to buy a new house near the river.",
            "We are going to have dinner together on Friday.", "The children played in the garden until it was dark.",
            "He forgot to close the window before the rain began.",
        ]
        let text = sentences.joined(separator: " ")
        let samples = try await Embedded.speech(Embedded.hibari().synthesize(text, voice: "alloy")).forRecognizer()
        #expect(samples.count > 16_000 * 17)
        var results: [Recognition] = []
        let segment = SpeechSegment(samples: samples, start: Instant(nanoseconds: 6))
        for try await result in try await Embedded.recognizer().recognize(segment) { results.append(result) }
        #expect(results.count >= 2)
        #expect(results.dropLast().allSatisfy { !$0.isFinal })
        let heard = try #require(results.last)
        #expect(heard.isFinal)
        #expect(wordErrors(words(text), words(heard.text)) <= words(text).count / 10)
    }

    @Test func aCancelledSegmentDoesNotDelayTheNext() async throws {
        let recognizer = try await Embedded.recognizer()
        let clip = try Embedded.demoClip()
        let abandoned = (0..<20).map { index in
            Task {
                for try await _ in recognizer.recognize(SpeechSegment(samples: clip, start: Instant(nanoseconds: UInt64(100 + index)))) {}
            }
        }
        for task in abandoned { task.cancel() }
        #expect(words(try await Embedded.text(of: clip)) == words(Embedded.demoText))
    }
}

struct RecognitionQueueTests {
    private func entry(_ id: Int, _ start: UInt64, isPartial: Bool = false) -> RecognitionQueue.Entry {
        .init(id: id, start: Instant(nanoseconds: start), isPartial: isPartial)
    }

    @Test func finalSegmentsComeBeforePartialOnes() {
        var queue = RecognitionQueue(limit: 4)
        #expect(queue.add(entry(1, 1, isPartial: true)) == .queued(skipped: []))
        #expect(queue.add(entry(2, 2)) == .queued(skipped: []))
        #expect(queue.add(entry(3, 3)) == .queued(skipped: []))
        #expect([queue.next(), queue.next(), queue.next(), queue.next()] == [2, 3, 1, nil])
    }

    @Test func aLaterSegmentOfAnUtteranceReplacesAPartialOne() {
        var queue = RecognitionQueue(limit: 4)
        _ = queue.add(entry(1, 7, isPartial: true))
        #expect(queue.add(entry(2, 7, isPartial: true)) == .queued(skipped: [1]))
        #expect(queue.add(entry(3, 7)) == .queued(skipped: [2]))
        #expect(queue.add(entry(4, 7)) == .queued(skipped: []))
        #expect([queue.next(), queue.next(), queue.next()] == [3, 4, nil])
    }

    @Test func aFullQueueSkipsPartialSegmentsAndThenRefuses() {
        var queue = RecognitionQueue(limit: 2)
        _ = queue.add(entry(1, 1, isPartial: true))
        _ = queue.add(entry(2, 2))
        #expect(queue.add(entry(3, 3)) == .queued(skipped: [1]))
        #expect(queue.add(entry(4, 4)) == .full)
        #expect([queue.next(), queue.next(), queue.next()] == [2, 3, nil])
    }

    @Test func aRemovedSegmentIsNotNext() {
        var queue = RecognitionQueue(limit: 2)
        _ = queue.add(entry(1, 1))
        #expect([queue.remove(1), queue.remove(1)] == [true, false])
        #expect(queue.isEmpty)
    }
}

struct SegmentAnalysisTests {
    @Test func aShortSegmentHasOnePart() {
        #expect(SegmentAnalysis.parts(of: Signal.noise(3), maximum: 48_000) == [0..<48_000])
        #expect(SegmentAnalysis.parts(of: [], maximum: 48_000) == [0..<0])
    }

    @Test func aLongSegmentIsCutInItsPause() {
        let samples = Signal.noise(12) + Signal.silence(0.3) + Signal.noise(8)
        let parts = SegmentAnalysis.parts(of: samples, maximum: 15 * 16_000)
        #expect(parts.count == 2)
        #expect((12 * 16_000...12 * 16_000 + 4_800).contains(parts[0].upperBound))
        #expect(parts[1] == parts[0].upperBound..<samples.count)
    }

    @Test func moreAudioDoesNotMoveEarlierCuts() {
        let samples = Signal.noise(50)
        let parts = SegmentAnalysis.parts(of: samples, maximum: 15 * 16_000)
        let earlier = SegmentAnalysis.parts(of: Array(samples.prefix(40 * 16_000)), maximum: 15 * 16_000)
        #expect(earlier.dropLast().elementsEqual(parts.prefix(earlier.count - 1)))
        #expect(parts.allSatisfy { $0.count <= 15 * 16_000 })
    }

    @Test func aRealYouIsKept() {
        let spoken = Signal.silence(0.3) + Signal.tone(0.3, frequency: 200) + Signal.silence(0.3)
        #expect(!SegmentAnalysis.isInvented("You.", for: spoken))
        #expect(SegmentAnalysis.isInvented("You.", for: Signal.noise(2)))
        #expect(SegmentAnalysis.isInvented("Thank you.", for: Signal.silence(2)))
        #expect(!SegmentAnalysis.isInvented("Open the door.", for: Signal.noise(2)))
    }
}
