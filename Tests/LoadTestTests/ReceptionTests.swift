import Testing

@testable import patchbay_loadtest

struct ReceptionTests {
    @Test func orderIsRecognizedAcrossWraparound() {
        var reception = Reception(from: .max - 2)
        for step in 0..<10 as Range<UInt32> { #expect(reception.record(.max - 2 &+ step) == .inOrder) }
    }

    @Test func missingFramesMayArriveLate() {
        var reception = Reception(from: 10)
        #expect(reception.record(10) == .inOrder)
        #expect(reception.record(13) == .after(gap: 2))
        #expect(reception.record(12) == .late)
        #expect(reception.record(12) == .duplicate)
        #expect(reception.record(11) == .late)
        #expect(reception.record(14) == .inOrder)
    }

    @Test func repeatedFramesCountAsDuplicates() {
        var reception = Reception(from: 0)
        #expect(reception.record(0) == .inOrder)
        #expect(reception.record(0) == .duplicate)
        #expect(reception.record(1) == .inOrder)
        #expect(reception.record(0) == .duplicate)
    }

    /// Frames before the subscription were not missing, so they cannot be late.
    @Test func framesBeforeTheFirstCountAsDuplicates() {
        var reception = Reception(from: 100)
        #expect(reception.record(99) == .duplicate)
    }

    @Test func framesBeforeALongGapAreForgotten() {
        var reception = Reception(from: 0)
        #expect(reception.record(0) == .inOrder)
        #expect(reception.record(1_000) == .after(gap: 999))
        #expect(reception.record(999) == .late)
        #expect(reception.record(5) == .duplicate)
    }

    @Test func onlyTheMeasuredPartOfAGapCounts() {
        #expect(Reception.part(of: 10, before: 100, since: 50) == 10)
        #expect(Reception.part(of: 10, before: 100, since: 97) == 3)
        #expect(Reception.part(of: 10, before: 100, since: 120) == 0)
    }

    @Test func missingLastFramesCountAsLost() {
        var reception = Reception(from: 65_500)
        _ = reception.record(65_500)
        #expect(reception.missing(before: 65_501) == 0)
        #expect(reception.missing(before: 65_540) == 39)
        #expect(reception.missing(before: 65_400) == 0)
    }
}
