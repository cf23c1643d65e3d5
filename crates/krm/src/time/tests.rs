use proptest::prelude::*;

use super::*;

#[test]
fn a_time_is_read_with_any_offset_and_written_in_utc() {
    for (text, written) in [
        ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
        ("2020-02-29T23:59:59Z", "2020-02-29T23:59:59Z"),
        ("2020-01-01T00:30:00+01:00", "2019-12-31T23:30:00Z"),
        ("2020-01-01T00:00:00.987654321-00:30", "2020-01-01T00:30:00Z"),
        ("2020-01-01T5:00:00Z", "2020-01-01T05:00:00Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"),
    ] {
        assert_eq!(Moment::parse(text).unwrap().to_string(), written, "{text}");
    }
    assert_eq!(Moment::parse("2020-01-01T00:00:00Z").unwrap(), Moment::of_seconds(1_577_836_800));
    assert!(Moment::parse("0001-01-01T00:00:00Z").unwrap().is_zero());
    assert!(!Moment::default().is_zero());
}

#[test]
fn microseconds_need_all_their_digits() {
    let moment = Moment::parse_micros("2020-01-01T00:00:00.012345Z").unwrap();
    assert_eq!(moment.nanoseconds, 12_345_000);
    assert_eq!(moment.to_micros(), "2020-01-01T00:00:00.012345Z");
    assert_eq!(
        Moment::parse_micros("2020-01-01T00:00:00Z").unwrap_err(),
        r#"parsing time "2020-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000""#
    );
}

#[test]
fn a_text_that_is_no_time_is_refused_at_the_piece_that_is_wrong() {
    let layout = "2006-01-02T15:04:05Z07:00";
    for (text, rest, element) in [
        ("yesterday", "yesterday", "2006"),
        ("", "", "2006"),
        ("2020", "", "-"),
        ("2020-1-01T00:00:00Z", "1-01T00:00:00Z", "01"),
        ("2020-01-01", "", "T"),
        ("2020-01-01 00:00:00Z", " 00:00:00Z", "T"),
        ("2020-01-01T00:00:00", "", "Z07:00"),
        ("2020-01-01T00:00:00.Z", ".Z", "Z07:00"),
        ("2020-01-01T00:00:00+0100", "+0100", "Z07:00"),
        ("2020-01-0ü", "0ü", "02"),
    ] {
        let says = format!("parsing time {text:?} as {layout:?}: cannot parse {rest:?} as {element:?}");
        assert_eq!(Moment::parse(text).unwrap_err(), says, "{text}");
    }
    for (text, why) in [
        ("2020-13-01T00:00:00Z", "month out of range"),
        ("2021-02-29T00:00:00Z", "day out of range"),
        ("2021-02-00T00:00:00Z", "day out of range"),
        ("2021-02-01T24:00:00Z", "hour out of range"),
        ("2021-02-01T00:60:00Z", "minute out of range"),
        ("2021-02-01T00:00:60Z", "second out of range"),
        ("2021-02-01T00:00:00+25:00", "time zone offset hour out of range"),
        ("2021-02-01T00:00:00Z!", "extra text: \"!\""),
    ] {
        assert_eq!(Moment::parse(text).unwrap_err(), format!("parsing time {text:?}: {why}"), "{text}");
    }
}

proptest! {
    #[test]
    fn what_is_written_reads_back(seconds in -62_135_596_800i64..253_402_300_800, micros in 0u32..1_000_000) {
        let moment = Moment { seconds, nanoseconds: micros * 1000 };
        prop_assert_eq!(Moment::parse_micros(&moment.to_micros()).unwrap(), moment);
        prop_assert_eq!(Moment::parse(&moment.to_string()).unwrap(), Moment::of_seconds(seconds));
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "[0-9TZ:.+ü-]{0,30}") {
        let _ = Moment::parse(&text);
        let _ = Moment::parse_micros(&text);
    }

    #[test]
    fn the_calendar_knows_every_second(seconds in any::<i64>()) {
        let _ = Moment::of_seconds(seconds).to_string();
    }
}
